// Compares Wadi with the raw driver doing the same minimal writes, both in one run.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readOptions } from "../scripts/options.ts";
import { startPostgres } from "../testing/postgres.ts";
import { startTcpProxy } from "../testing/tcp-proxy.ts";
import type { Result } from "./measure.ts";
import { postgresSides } from "./postgres.ts";
import { sqliteSides } from "./sqlite.ts";
import {
  backlogs,
  drains,
  latency,
  prefetch,
  type Sides,
  type Size,
  type Stage,
  signals,
  submits,
} from "./workloads.ts";

const LATENCY_MS = 20;
const ENGINES = ["better-sqlite3", "better-sqlite3+normal", "postgres", `postgres+${LATENCY_MS}ms`] as const;

const LOCAL: Size = { steps: 1920, bulk: 10_000, tasks: 9600, ahead: 12_800 };
/** Without a sync for each commit a step is so short that it takes more of them to warm up and to measure. */
const UNSYNCED: Size = { steps: 7680, bulk: 10_000, tasks: 12_800, ahead: 12_800 };
const SERVER: Size = { steps: 720, bulk: 5000, tasks: 4800, ahead: 12_800 };
const REMOTE: Size = { steps: 12, bulk: 1000, tasks: 480, ahead: 10_000 };
const CONCURRENCIES = [1, 16, 64];

const { wanted, workload, json } = readOptions(
  "bench",
  {
    engine: { value: "NAME", list: true, about: `run on these engines only: ${ENGINES.join(", ")}` },
    workload: { value: "TEXT", about: "run only the workloads whose name contains this text" },
    json: { about: "print the results as one line of JSON, last" },
  },
  ({ engine = ENGINES, ...values }) => {
    for (const name of engine) {
      if (ENGINES.some((known) => known === name)) continue;
      throw new Error(`no engine "${name}"; there are ${ENGINES.join(", ")}`);
    }
    return { ...values, wanted: new Set(engine) };
  },
);

const results: Result[] = [];

function report(result: Result): void {
  results.push(result);
  const rate = (value: number) => value.toFixed(value < 100 ? 1 : 0).padStart(9);
  const names = `${result.engine.padEnd(22)} ${result.workload.padEnd(66)}`;
  const ratio = result.ratio.toFixed(2).padStart(7);
  console.log(`${names} ${rate(result.floor)} ${rate(result.wadi)} ${ratio}`);
}

/** Runs the groups of workloads on one engine, then closes both sides. */
async function bench(
  engine: string,
  sides: Sides,
  size: Size,
  rounds: number,
  groups: readonly ((stage: Stage) => Promise<void>)[],
): Promise<void> {
  const wants = (name: string) => name.includes(workload ?? "");
  try {
    for (const group of groups) await group({ engine, rounds, wants, report, sides, size });
  } finally {
    await sides.raw.close();
    await sides.wadi.close();
  }
}

const allDrains = (stage: Stage) => drains(stage, CONCURRENCIES);
const some = [submits, allDrains, prefetch, latency, signals];
const all = [...some, backlogs];

async function benchPostgres(wanted: ReadonlySet<string>): Promise<void> {
  const server = await startPostgres();
  try {
    if (wanted.has(ENGINES[2])) {
      await bench(ENGINES[2], await postgresSides(server.createDatabase), SERVER, 5, all);
    }
    if (wanted.has(ENGINES[3])) {
      const proxy = await startTcpProxy({ port: server.port, latencyMs: LATENCY_MS });
      const sides = await postgresSides(server.createDatabase, proxy.port);
      await bench(ENGINES[3], sides, REMOTE, 3, some);
      await proxy.stop();
    }
  } finally {
    await server.stop();
  }
}

console.log(
  `${"engine".padEnd(22)} ${"workload (operations or tasks a second)".padEnd(66)}     floor      wadi   ratio`,
);
const directory = mkdtempSync(join(tmpdir(), "wadi-bench-"));
try {
  if (wanted.has(ENGINES[0])) await bench(ENGINES[0], await sqliteSides(directory, "full"), LOCAL, 5, all);
  if (wanted.has(ENGINES[1]))
    await bench(ENGINES[1], await sqliteSides(directory, "normal"), UNSYNCED, 5, some);
  if (wanted.has(ENGINES[2]) || wanted.has(ENGINES[3])) await benchPostgres(wanted);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
if (json) console.log(JSON.stringify({ results }));
if (results.length === 0) {
  console.error(`bench: no workload of ${[...wanted].join(", ")} has "${workload}" in its name`);
  process.exitCode = 2;
}
