import type { Dialect } from "../../src/core/executor.ts";
import type { Wadi } from "../../src/index.ts";
import { storeOf } from "../store.ts";

// Not from node:timers/promises: workerd runs this file too.
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Counts in the database how many tasks of each key run, and when they were started. */
const SETUP: Record<Dialect, string[]> = {
  sqlite: [
    "create table counters (key text primary key, running integer, peak integer)",
    "create table starts (n integer primary key, key text, at_ms integer)",
    `create trigger count_start after update on cairnq_tasks
     when new.status = 'running' and old.status = 'queued' and new.concurrency_key <> ''
     begin
       update counters set running = running + 1, peak = max(peak, running + 1) where key = new.concurrency_key;
       insert into starts (key, at_ms) values (new.concurrency_key, new.updated_at_ms);
     end`,
    `create trigger count_end after update on cairnq_tasks
     when old.status = 'running' and new.status <> 'running' and new.concurrency_key <> ''
     begin update counters set running = running - 1 where key = new.concurrency_key; end`,
  ],
  // The row lock serialises claims after they took tasks, so that claims of too many are counted.
  postgres: [
    "create table counters (key text primary key, running integer, peak integer)",
    "create table starts (n bigint generated always as identity, key text, at_ms bigint)",
    `create function count_limited() returns trigger language plpgsql as $$
     begin
       if new.status = 'running' then
         update counters set running = running + 1, peak = greatest(peak, running + 1) where key = new.concurrency_key;
         insert into starts (key, at_ms) values (new.concurrency_key, new.updated_at_ms);
       else
         update counters set running = running - 1 where key = new.concurrency_key;
       end if;
       return null;
     end $$`,
    `create trigger count_limited after update on cairnq_tasks for each row
     when ((old.status = 'running') <> (new.status = 'running') and new.concurrency_key <> '')
     execute function count_limited()`,
  ],
};

/** `within` puts the names of Wadi's tables where they are, if a schema holds them. */
export async function countRunning(
  wadi: Wadi,
  keys: readonly string[],
  within = (sql: string) => sql,
): Promise<void> {
  await wadi.migrate();
  const rows = keys.map((key) => `insert into counters values ('${key}', 0, 0)`);
  const setup = SETUP[wadi.executor.dialect].map(within);
  for (const sql of [...setup, ...rows]) await wadi.executor.run({ sql, params: [] });
}

export interface LimitedRun {
  /** How many claim at once on this connection. */
  readonly claimers: number;
  readonly lanes: readonly { readonly queue: string; readonly name: string }[];
  /** Most tasks of one claim. */
  readonly limit: number;
  readonly startAtMs: number;
  /** Begins the tokens of the leases. */
  readonly racer: string;
  /** Claimed tasks are kept until so many of the key have run at once, so that a slow server's claimers overlap too. */
  readonly keptUntil?: { readonly key: string; readonly peak: number };
}

async function untilPeak(wadi: Wadi, { key, peak }: { key: string; peak: number }): Promise<void> {
  const sql = `select 1 from counters where key = '${key}' and peak >= ${peak}`;
  while ((await wadi.executor.run({ sql, params: [] })).length === 0) await pause(2);
}

/** Claims and settles until no limited task is queued, and returns the ids it had. */
export async function runLimited(wadi: Wadi, run: LimitedRun): Promise<string[]> {
  const ids: string[] = [];
  const lanes = run.lanes.map((lane) => ({ ...lane, quota: run.limit }));
  await pause(Math.max(0, run.startAtMs - Date.now()));
  const claimer = async (claimer: number) => {
    for (let n = 0; ; n++) {
      const workerId = `${run.racer}-${claimer}:${n}`;
      const pools = [{ lanes, limit: run.limit }];
      const claimed = await storeOf(wadi).claim({
        pools,
        workerId,
        leaseMs: 600_000,
        limited: true,
      });
      if (!claimed.limited && claimed.tasks.length === 0) return;
      ids.push(...claimed.tasks.map(({ id }) => id));
      await pause(1 + Math.random() * 4);
      if (claimed.tasks.length === 0) continue;
      if (run.keptUntil) await untilPeak(wadi, run.keptUntil);
      await storeOf(wadi).settle(
        claimed.tasks.map(({ id, attempt }) => ({
          id,
          workerId,
          attempt,
          outcome: "complete",
          resultJson: "1",
        })),
      );
    }
  };
  await Promise.all(Array.from({ length: run.claimers }, (_, n) => claimer(n)));
  return ids;
}
