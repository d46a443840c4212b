// The operations whose costs are measured, each in the state it starts from.

import type { Settlement } from "../../src/core/operations/settle.ts";
import type { Task } from "../../src/core/task.ts";
import { storeOf } from "../../testing/store.ts";
import { claimOf, type Operation, PAYLOAD, succeeded, THREE_NAMES } from "./bench.ts";
import { features } from "./features.ts";

export const operations: Readonly<Record<string, Operation>> = {
  submit:
    async ({ wadi }) =>
    () =>
      wadi.submit("index", PAYLOAD),
  "submit-keyed":
    async ({ wadi }) =>
    () =>
      wadi.submit("index", PAYLOAD, { key: "docs/cost.md" }),
  "submit-kicking": async (bench) => {
    const { kicking } = bench;
    return () => kicking.submit("index", PAYLOAD);
  },
  "submit-kick-pending": async (bench) => {
    const { kicking } = bench;
    await kicking.submit("index", PAYLOAD);
    return () => kicking.submit("index", PAYLOAD);
  },
  "submit-many-100": async (bench) => () => bench.queue(100),
  claim: async (bench) => {
    await bench.queue(1);
    return () => storeOf(bench.wadi).claim(claimOf(1));
  },
  settle: async (bench) => {
    const tasks = await bench.claim(1);
    return () => storeOf(bench.wadi).settle(tasks.map(succeeded));
  },
  "settle-and-claim-10": async (bench) => {
    const settlements = (await bench.claim(10)).map(mixed);
    await bench.queue(10);
    return () => storeOf(bench.wadi).settleAndClaim(settlements, claimOf(10));
  },
  "drain-empty": async (bench) => bench.drainOf(THREE_NAMES),
  "drain-empty-100k-not-due": async (bench) => {
    await bench.fill(THREE_NAMES, 100_000, 3_000);
    return bench.drainOf(THREE_NAMES);
  },
  "drain-empty-kicking": async (bench) => bench.drainOf(THREE_NAMES, bench.kicking),
  "submit-on-failed":
    async ({ wadi }) =>
    () =>
      wadi.submit("index", PAYLOAD, { onFailed: "alert" }),
  "settle-failed": async (bench) => {
    const [task] = await bench.claim(1);
    return () => storeOf(bench.wadi).settle([failed(task!)]);
  },
  "settle-failed-on-failed": async (bench) => {
    await bench.wadi.submit("index", PAYLOAD, { onFailed: "alert" });
    const [task] = (await storeOf(bench.wadi).claim(claimOf(1))).tasks;
    return () => storeOf(bench.wadi).settle([failed(task!)]);
  },
  snooze: async (bench) => {
    const [{ id, workerId, attempt }] = (await bench.claim(1)) as [Task];
    const settlement: Settlement = { id, workerId: workerId!, attempt, outcome: "release", delayMs: 60_000 };
    return () => storeOf(bench.wadi).settle([settlement]);
  },
  "heartbeat-100": async (bench) => {
    const held = (await bench.claim(100)).map(({ id, workerId }) => ({ id, workerId: workerId! }));
    return () => storeOf(bench.wadi).heartbeat(held, 60_000);
  },
  get: async (bench) => {
    const [task] = await bench.queue(1);
    return () => bench.wadi.get(task!.id);
  },
  "wait-poll": async ({ wadi }) => {
    await wadi.submit("index", PAYLOAD, { key: "docs/cost.md" });
    return () => wadi.getStatusByKey("docs/cost.md");
  },
  cancel: async (bench) => {
    const [task] = await bench.queue(1);
    return () => bench.wadi.cancel(task!.id);
  },
  retry: async (bench) => {
    const [task] = await bench.queue(1);
    await bench.wadi.cancel(task!.id);
    return () => bench.wadi.retry(task!.id);
  },
  "purge-100": async (bench) => {
    await bench.finish(200);
    return () => bench.wadi.purge({ olderThanMs: 60_000, limit: 100 });
  },
  stats: async (bench) => {
    await bench.queue(100);
    return () => bench.wadi.stats();
  },
  list: async (bench) => {
    await bench.queue(100);
    return () => bench.wadi.list();
  },
  ...features,
};

function failed({ id, workerId, attempt }: Task): Settlement {
  const error = { type: "Error", code: "handler_error", message: "no", retryable: false, details: null };
  return { id, workerId: workerId!, attempt, outcome: "fail", error };
}

/** Of ten: seven succeed, two are tried again, one fails for good. */
function mixed(task: Task, i: number): Settlement {
  if (i < 7) return succeeded(task);
  const { id, workerId, attempt } = task;
  const error = { type: "Error", code: "handler_error", message: "no", retryable: i < 9, details: null };
  const held = { id, workerId: workerId!, attempt, error };
  return i < 9 ? { ...held, outcome: "retry", delayMs: 1_000 } : { ...held, outcome: "fail" };
}
