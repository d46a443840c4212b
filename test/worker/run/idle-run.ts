/** A long-running worker that has polled once, found nothing and now waits. */

import type { Wadi, Worker, WorkerOptions } from "../../../src/index.ts";
import { internalsOf } from "../../../src/producer/internals.ts";
import { until } from "../../../testing/until.ts";

/** Without a notification the worker would wait for hours. */
export const NO_POLLS: WorkerOptions = { pollMs: 3_600_000, maxPollMs: 3_600_000 };

/** Claims that reach the database. */
function claims(wadi: Wadi): { count: number } {
  const seen = { count: 0 };
  const execute = internalsOf(wadi).session.execute.bind(internalsOf(wadi).session);
  internalsOf(wadi).session.execute = (operation, call) => {
    if (/claim|settleAndClaim/.test(operation.name)) seen.count++;
    return execute(operation, call);
  };
  return seen;
}

export async function idleRun(worker: Worker) {
  const seen = claims(worker.wadi);
  const running = worker.run();
  await until(() => seen.count > 0);
  await new Promise((resolve) => setTimeout(resolve, 20));
  return { running, seen };
}
