/** How an attempt ended, in the terms of spans and metrics. */

import type { ErrorEnvelope } from "../core/task.ts";
import type { WorkerEvent } from "../worker/hooks.ts";

/** An event that ends an attempt. */
export type Ended = Exclude<
  WorkerEvent,
  | { readonly type: "claimed" }
  | { readonly type: "started" }
  | { readonly type: "recovered" }
  | { readonly type: "drained" }
>;

const BEFORE_THE_END = ["claimed", "started", "recovered", "drained"];

export function isEnd(event: WorkerEvent): event is Ended {
  return !BEFORE_THE_END.includes(event.type);
}

/** The type of error of an attempt; null if it did not fail. */
export function failureOf(event: Ended): string | null {
  if (event.type === "lostLease") return "lost_lease";
  return event.type === "failed" || event.type === "retried" ? errorType(event.error) : null;
}

/** The code, if the handler or Wadi set one, else the class of the thrown error. */
function errorType({ code, type }: ErrorEnvelope): string {
  return code === "handler_error" ? type : code;
}
