// What the tests of the cells share: a place for one of them, workers in it, and another SDK by its SQL.

import {
  type Task,
  type TaskContext,
  TaskError,
  type TaskStatus,
  type Wadi,
  Worker,
  type WorkerOptions,
} from "../../src/index.ts";
import type { ManualClock } from "../../testing/memory.ts";

/** A database with a clock, and a queue and a limit key that no other cell uses. */
export interface Place {
  readonly wadi: Wadi;
  readonly clock: ManualClock;
  readonly queue: string;
  readonly limitKey: string;
  /** Sends SQL as another SDK would. */
  run(sql: string): Promise<unknown>;
}

type Handler = (context: TaskContext) => unknown;

export const refuse = () => {
  throw new TaskError("no", { retryable: false });
};

export function worker(
  { wadi, queue }: Place,
  handler: Handler,
  options: Partial<WorkerOptions> = {},
): Worker {
  return new Worker(wadi, { queues: [queue], logger: null, ...options }).task("a", handler as never);
}

export const drain = (place: Place, handler: Handler = () => 1, options?: Partial<WorkerOptions>) =>
  worker(place, handler, options).drain();

export const submit = ({ wadi, queue }: Place, options: object = {}) =>
  wadi.submit("a", null, { queue, ...options });

export const statusOf = async ({ wadi }: Place, { id }: Task): Promise<TaskStatus | undefined> =>
  (await wadi.get(id))?.status;

export const pause = ({ wadi }: Place, queue: string) => wadi.pause({ queue });
export const resume = ({ wadi }: Place, queue: string) => wadi.resume({ queue });

/** What `onFailed` submitted. */
export const children = async ({ wadi }: Place, { id }: Task) =>
  (await wadi.list({ rootId: id })).filter(({ parentId }) => parentId === id);

/** The claim of a worker of another SDK, which knows none of Wadi's columns. */
export async function claimForeign({ run, clock }: Place, { id }: Task): Promise<void> {
  const untilMs = clock.nowMs + 60_000;
  await run(`update cairnq_tasks set status = 'running', worker_id = 'other', attempt = attempt + 1,
    lease_until_ms = ${untilMs}, updated_at_ms = ${clock.nowMs} where id = '${id}' and status = 'queued'`);
}

export async function endForeign({ run, clock }: Place, { id }: Task, status: string): Promise<void> {
  await run(`update cairnq_tasks
    set status = case when cancel_requested_at_ms is null then '${status}' else 'canceled' end, lease_until_ms = null,
      completed_at_ms = ${clock.nowMs}, updated_at_ms = ${clock.nowMs}
    where id = '${id}'`);
}

export const retry = async ({ wadi, clock, queue }: Place, status: "failed" | "canceled") => {
  clock.advance(1);
  return (await wadi.retryMany({ queue, status })).changed;
};

/** One test for each cell, by its title. */
export type CellTests = Readonly<Record<string, (place: Place) => Promise<void>>>;
