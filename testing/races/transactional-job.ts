// A race of succeedWith: application rows are committed with a success, while leases expire and answers are lost.

import type { Executor } from "../../src/core/executor.ts";
import { type Task, Wadi } from "../../src/index.ts";
import { internalsOf } from "../../src/producer/internals.ts";
import { commitSuccess } from "../../src/worker/handler/succeed-with.ts";
import { lossy } from "../lossy-executor.ts";
import { storeOf } from "../store.ts";

export interface OwnRowsRace {
  /** Names the racer in its lease tokens, and seeds its pauses. */
  readonly seed: number;
  /** Ends after this number of commits was refused for a lost lease. */
  readonly losses: number;
  readonly leaseMs: number;
  /** Share of the answers that are lost after the commit. */
  readonly lostAnswers: number;
  /** False removes the check of the lease, to prove that the test notices. */
  readonly isFenced: boolean;
  readonly startAtMs: number;
}

export interface OwnRowsRaced {
  readonly lost: number;
  /** Every commit that was reported as done. */
  readonly done: { readonly id: string; readonly token: string }[];
}

const BATCH = 8;
const RETRY = { tries: 15, baseMs: 1, capMs: 4 };

/** The application's statements for a task: two inserts, and sometimes a slow statement between them. */
function ownRows({ dialect }: Executor, id: string, token: string, isSlow: boolean) {
  const insert = (part: number) => ({
    sql: `insert into ledger (task, token, part) values (${dialect === "sqlite" ? "?, ?, ?" : "$1, $2, $3"})`,
    params: [id, token, part],
  });
  const slow =
    dialect === "sqlite"
      ? "with recursive n(i) as (select 1 union all select i + 1 from n where i < 30000) select count(*) from n"
      : "select pg_sleep(0.01)";
  return [insert(1), ...(isSlow ? [{ sql: slow }] : []), insert(2)];
}

/** Claims with short leases, works about as long as those last, and commits rows with the settlement. */
export async function commitOwnRows(wadi: Wadi, race: OwnRowsRace): Promise<OwnRowsRaced> {
  const random = randomFrom(race.seed);
  const { protocol } = wadi.executor;
  const fence_lease = { sql: "select null as refusal", params: [] };
  const statements = race.isFenced ? protocol.statements : { ...protocol.statements, fence_lease };
  const executor = lossy({ ...wadi.executor, protocol: { ...protocol, statements } }, () =>
    random() < race.lostAnswers ? "after" : null,
  );
  const wadiOfRacer = new Wadi(executor, { requestRetry: RETRY });
  const { session } = internalsOf(wadiOfRacer);
  const lanes = [{ queue: "default", name: null, quota: BATCH }];
  const raced = { lost: 0, done: [] as { id: string; token: string }[] };

  async function work(task: Task): Promise<void> {
    await sleep(race.leaseMs * (0.2 + random()));
    const token = task.workerId!;
    try {
      const rows = ownRows(executor, task.id, token, random() < 0.1);
      await commitSuccess(session, task, rows, JSON.stringify(token));
      raced.done.push({ id: task.id, token });
    } catch (error) {
      if ((error as Error).name !== "LostLease") throw error;
      raced.lost++;
    }
  }

  await sleep(race.startAtMs - Date.now());
  for (let n = 1; raced.lost < race.losses; n++) {
    const workerId = `racer-${race.seed}:${n}`;
    const request = { pools: [{ lanes, limit: BATCH }], workerId, leaseMs: race.leaseMs, limited: false };
    const { tasks, nextDueAtMs } = await storeOf(wadiOfRacer).claim(request);
    if (tasks.length === 0 && nextDueAtMs === null) break;
    await Promise.all(tasks.map(work));
  }
  return raced;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}

/** Mulberry32: the same pauses for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
}
