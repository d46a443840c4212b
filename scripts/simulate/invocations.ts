/** Runs tasks in short invocations that are killed, frozen and doubled, and counts what was lost and thrown away. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "pg";
import { pg } from "../../src/drivers/pg.ts";
import { Wadi } from "../../src/index.ts";
import { createDatabase, startPostgres } from "../../testing/postgres.ts";
import { query, readMoves, startAudit } from "../../testing/races/audit.ts";
import { type FaultRates, RATES, workMsOf } from "./invocations/fates.ts";
import { idealKilledMs } from "./invocations/floor.ts";
import { Platform } from "./invocations/platform.ts";
import { judge, violationsOf } from "./invocations/verdict.ts";
import { readRuns } from "./invocations/work-log.ts";
import type { Simulate } from "./simulation.ts";

const TASKS = 10_000;
const TASK = "simulated work";
const INVOCATION_MS = 2000;
/** Longer than an invocation, so that it needs no heartbeat. */
const LEASE_MS = 3000;
const CONCURRENCY = 4;
const WIDTH = 4;
/** More than faults can spend: tasks fail for no other reason. */
const MAX_ATTEMPTS = 100;
/** The longest time without a task that ends. */
const STUCK_MS = 30_000;
const REPORT_MS = 10_000;

/** The whole fault run: one kill in 20 invocations, one freeze in 50. */
export const simulateInvocations: Simulate = ({ seed, size }, log) =>
  runInvocations(seed, size ?? TASKS, RATES, log);

/** Runs `size` tasks under faults at these rates. */
export async function runInvocations(
  seed: number,
  size: number,
  rates: FaultRates,
  log: (line: string) => void,
): ReturnType<Simulate> {
  const folder = mkdtempSync(join(tmpdir(), "wadi-invocations-"));
  const logPath = join(folder, "work.log");
  writeFileSync(logPath, "");
  const server = process.env.WADI_TEST_POSTGRES_URL === undefined ? await startPostgres() : null;
  const url = await createDatabase(server?.url);
  const pool = new Pool({ connectionString: url, max: 2 });
  pool.on("error", () => {});
  const wadi = new Wadi(pg(pool));
  const plan = { task: TASK, seed, url, logPath, leaseMs: LEASE_MS, concurrency: CONCURRENCY, rates };
  const platform = new Platform(
    { ...plan, invocationMs: INVOCATION_MS, width: WIDTH },
    join(folder, "compiled"),
  );
  try {
    await startAudit(wadi);
    const tasks = await submitAll(wadi, seed, size);
    const progress = watchProgress(wadi, log);
    await platform.run(() => progress.isDone).finally(progress.stop);
    const figures = judge(tasks, readRuns(logPath), platform.records, await readMoves(wadi));
    const failures = Map.groupBy(
      platform.records.flatMap(({ error }) => error ?? []),
      (error) => error,
    );
    for (const [error, { length }] of failures) log(`${length} drains failed with ${error}`);
    const { invocations } = figures;
    const idealMs = idealKilledMs({
      ...{ seed, rates, invocations },
      ...{ invocationMs: INVOCATION_MS, concurrency: CONCURRENCY },
    });
    log(`an ideal worker loses ${idealMs} ms on average by the same kills`);
    return { figures: { ...figures, idealKilledMs: idealMs }, violations: violationsOf(figures) };
  } finally {
    await platform.close();
    await wadi.close();
    await pool.end();
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function submitAll(wadi: Wadi, seed: number, size: number): Promise<string[]> {
  const entries = Array.from({ length: size }, (_, n) => ({
    payload: { ms: workMsOf(seed, n) },
    ...{ maxAttempts: MAX_ATTEMPTS, maxCrashes: MAX_ATTEMPTS },
  }));
  return (await wadi.submitMany(TASK, entries)).map(({ id }) => id);
}

/** Polls how many tasks have not ended, until all have or nothing changes any more. */
function watchProgress(wadi: Wadi, log: (line: string) => void) {
  const state = {
    isDone: false,
    open: Number.POSITIVE_INFINITY,
    changedAtMs: Date.now(),
    loggedAtMs: Date.now(),
  };
  const timer = setInterval(async () => {
    const rows = await query(
      wadi,
      "select count(*) as open from cairnq_tasks where status in ('queued', 'running')",
    ).catch(() => []);
    if (rows.length === 0) return;
    const open = Number(rows[0]!.open);
    const nowMs = Date.now();
    if (open < state.open) Object.assign(state, { open, changedAtMs: nowMs });
    if (nowMs - state.loggedAtMs >= REPORT_MS) {
      state.loggedAtMs = nowMs;
      log(`${open} tasks are left`);
    }
    state.isDone = open === 0 || nowMs - state.changedAtMs > STUCK_MS;
  }, 250);
  return {
    get isDone() {
      return state.isDone;
    },
    stop: () => clearInterval(timer),
  };
}
