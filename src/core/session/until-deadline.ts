/** A wait that ends at a deadline: a database may never answer. */

import { monotonicMs } from "../monotonic-clock.ts";
import { MAX_TIMER_MS, sleep } from "../timers.ts";
import type { Deadline } from "./operation-options.ts";
import type { RequestAbort } from "./request-abort.ts";

/** Turns of the microtask queue in which an engine in this process answers, so that no timer is set for it. */
const LOCAL_TURNS = 16;

/**
 * The answer, unless the signal or the deadline comes first: then the request is aborted with the error that is thrown.
 */
export async function untilDeadline<T>(
  answer: Promise<T>,
  { signal, endsAtMs }: Deadline,
  lateError: () => unknown,
  abort?: RequestAbort,
): Promise<T> {
  let isAnswered = false;
  const settled = () => {
    isAnswered = true;
  };
  const answered = answer.then(settled, settled);
  for (let turn = 0; turn < LOCAL_TURNS && !isAnswered; turn++) await null;
  if (isAnswered) return answer;
  const leftMs = Math.max(0, endsAtMs - monotonicMs());
  try {
    await sleep(Math.min(leftMs, MAX_TIMER_MS), signal, answered);
    if (!isAnswered) throw lateError();
  } catch (error) {
    abort?.abort(error);
    throw error;
  }
  return answer;
}
