// Compares Wadi with the raw driver doing the same minimal writes, both in one run. `--json` ends with one line of JSON.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startPostgres } from "../test/support/postgres.ts";
import { startTcpProxy } from "../test/support/tcp-proxy.ts";
import type { Result } from "./measure.ts";
import { postgresSides } from "./postgres.ts";
import { sqliteSides } from "./sqlite.ts";
import { backlogs, drains, latency, type Sides, type Size, submits } from "./workloads.ts";

const LATENCY_MS = 20;
const ENGINES = ["better-sqlite3", "postgres", `postgres+${LATENCY_MS}ms`] as const;

const LOCAL: Size = { steps: 1280, bulk: 5000, tasks: 6400, rounds: 5 };
const SERVER: Size = { steps: 320, bulk: 2000, tasks: 2400, rounds: 5 };
const REMOTE: Size = { steps: 12, bulk: 1000, tasks: 480, rounds: 3 };

const results: Result[] = [];

function report(result: Result): void {
  results.push(result);
  const rate = (value: number) => value.toFixed(value < 100 ? 1 : 0).padStart(9);
  console.log(
    `${result.engine.padEnd(16)} ${result.workload.padEnd(66)} ${rate(result.floor)} ${rate(result.wadi)} ${result.ratio.toFixed(2).padStart(7)}`,
  );
}

async function withSides(sides: Sides, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } finally {
    await sides.raw.close();
    await sides.wadi.close();
  }
}

async function benchSqlite(directory: string): Promise<void> {
  const sides = await sqliteSides(directory);
  await withSides(sides, async () => {
    await submits("better-sqlite3", sides, LOCAL, report);
    await drains("better-sqlite3", sides, LOCAL, [1, 16, 64], report);
    await latency("better-sqlite3", sides, LOCAL, report);
    await backlogs("better-sqlite3", sides, LOCAL, report);
  });
}

async function benchPostgres(wanted: ReadonlySet<string>): Promise<void> {
  const server = await startPostgres();
  try {
    if (wanted.has(ENGINES[1])) {
      const sides = await postgresSides(server.createDatabase);
      await withSides(sides, async () => {
        await submits("postgres", sides, SERVER, report);
        await drains("postgres", sides, SERVER, [1, 16, 64], report);
        await latency("postgres", sides, SERVER, report);
        await backlogs("postgres", sides, SERVER, report);
      });
    }
    if (wanted.has(ENGINES[2])) {
      const proxy = await startTcpProxy({ port: server.port, latencyMs: LATENCY_MS });
      const sides = await postgresSides(server.createDatabase, proxy.port);
      await withSides(sides, async () => {
        await submits(ENGINES[2], sides, REMOTE, report);
        await drains(ENGINES[2], sides, REMOTE, [1, 16, 64], report);
        await latency(ENGINES[2], sides, REMOTE, report);
      });
      await proxy.stop();
    }
  } finally {
    await server.stop();
  }
}

const { values } = parseArgs({ options: { json: { type: "boolean" }, engine: { type: "string" } } });
const wanted = new Set(values.engine?.split(",") ?? ENGINES);
for (const engine of wanted) {
  if (ENGINES.some((known) => known === engine)) continue;
  console.error(`no engine "${engine}"; there are ${ENGINES.join(", ")}`);
  process.exit(2);
}

console.log(
  `${"engine".padEnd(16)} ${"workload (operations or tasks a second)".padEnd(66)}     floor      wadi   ratio`,
);
const directory = mkdtempSync(join(tmpdir(), "wadi-bench-"));
try {
  if (wanted.has(ENGINES[0])) await benchSqlite(directory);
  if (wanted.has(ENGINES[1]) || wanted.has(ENGINES[2])) await benchPostgres(wanted);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
if (values.json) console.log(JSON.stringify({ results }));
