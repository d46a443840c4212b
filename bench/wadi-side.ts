// Wadi's side of the comparison, as an application uses it.

import type { Executor } from "../src/driver.ts";
import { Wadi, Worker } from "../src/index.ts";
import { storeOf } from "../testing/store.ts";
import { type Backlog, IDLE_QUEUE, NAME, PAYLOAD, QUEUE, type Served, type Side } from "./side.ts";

const lane = (queue: string, quota: number) => [{ queue, name: NAME, quota }];

/** Wadi through its public client, and a worker with a handler that returns immediately. */
export async function wadiSide(
  executor: Executor,
  fill: (backlog: Backlog) => Promise<void>,
  serve?: () => Promise<Served>,
): Promise<Side> {
  const wadi = new Wadi(executor);
  await wadi.migrate();
  const workers = new Map<string, Worker>();
  let key = 0;
  const worker = (concurrency: number, prefetch = 0) => {
    const id = `${concurrency}/${prefetch}`;
    const known =
      workers.get(id) ?? new Worker(wadi, { concurrency, prefetch, queue: QUEUE }).task(NAME, () => null);
    workers.set(id, known);
    return known;
  };
  return {
    async submit() {
      await wadi.submit(NAME, PAYLOAD);
    },
    async submitMany(count) {
      await wadi.submitMany(
        NAME,
        Array.from({ length: count }, () => ({ payload: PAYLOAD })),
      );
    },
    async submitNewKey() {
      await wadi.submit(NAME, PAYLOAD, { key: `key-${++key}` });
    },
    async submitExistingKey() {
      await wadi.submit(NAME, PAYLOAD, { key: "existing", queue: IDLE_QUEUE, delayMs: 3_600_000 });
    },
    async drain(concurrency) {
      await worker(concurrency).drain({ budgetMs: 120_000 });
    },
    async drainAhead(concurrency, ahead) {
      // The worker claims again once half of its prefetch is left.
      await worker(concurrency, 2 * ahead).drain({ budgetMs: 120_000 });
    },
    async claim(count) {
      const workerId = `bench:${++key}`;
      const { tasks } = await storeOf(wadi).claim({
        pools: [{ lanes: lane(QUEUE, count), limit: count }],
        workerId,
        leaseMs: 60_000,
        limited: false,
      });
      if (tasks.length !== count) throw new Error(`claimed ${tasks.length} of ${count}`);
      await storeOf(wadi).settle(
        tasks.map(({ id, attempt }) => ({ id, workerId, attempt, outcome: "release", delayMs: 0 })),
      );
    },
    async poll() {
      const pools = [{ lanes: lane(IDLE_QUEUE, 10), limit: 10 }];
      await storeOf(wadi).claim({ pools, workerId: "poll", leaseMs: 60_000, limited: false });
    },
    async call() {
      const { id } = await wadi.submit(NAME, PAYLOAD);
      await worker(1).drain({ maxTasks: 1 });
      await wadi.wait(id);
    },
    serve: serve ?? (async () => serveWadi(wadi, wadi)),
    async clear() {
      for (const sql of ["delete from cairnq_task_keys", "delete from cairnq_tasks"])
        await executor.run({ sql, params: [] });
    },
    fill,
    close: () => wadi.close(),
  };
}

/** A caller and a long-running worker in one process. */
export function serveWadi(caller: Wadi, host: Wadi): Served {
  const worker = new Worker(host, { concurrency: 16, queue: QUEUE }).task(NAME, () => null);
  const ended = worker.run();
  return {
    call: async () => void (await caller.call(NAME, PAYLOAD)),
    async stop() {
      await worker.stop();
      await ended;
    },
  };
}
