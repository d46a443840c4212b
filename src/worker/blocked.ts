import { monotonicMs } from "../core/clock.ts";
import { EventLoopBlocked } from "../core/errors.ts";
import type { Calls } from "./calls.ts";
import type { Block } from "./event-loop.ts";

/** The error that says what a block of the event loop has put at risk. */
export function blockedError(
  { blockedMs, heldFromMs, cpuMs }: Block,
  leaseMs: number,
  calls: Calls,
): EventLoopBlocked {
  const attempts = calls.ranAt(heldFromMs).flatMap((call) => call.attempts);
  const tasks = attempts.map(({ task: { id, name, attempt } }) => ({ id, name, attempt }));
  const leaseEndsAtMs = Math.min(...attempts.map(({ lease }) => lease.endsAtMs));
  const leaseLeftMs = attempts.length === 0 ? null : leaseEndsAtMs - monotonicMs();
  const names = tasks.map(({ name }) => name);
  return new EventLoopBlocked(blockedMs, leaseMs, names, { tasks, leaseLeftMs, cpuMs });
}
