import { EventLoopBlocked } from "../../core/errors/errors.ts";
import { monotonicMs } from "../../core/monotonic-clock.ts";
import { report } from "../hooks.ts";
import type { DrainSettings } from "./drain-settings.ts";
import { type Block, type LoopWatch, watchEventLoop } from "./event-loop-monitor.ts";
import type { RunningCalls } from "./running-calls.ts";

/**
 * Reports blocks of the event loop while a drain runs. A continuous drain renews its leases first, which may be about
 * to expire.
 */
export function reportBlocks(
  { continuous, hooks, leaseMs }: Pick<DrainSettings, "continuous" | "hooks" | "leaseMs">,
  calls: RunningCalls,
  renewLeases: () => void,
): LoopWatch {
  const watch = watchEventLoop(leaseMs, (block) => {
    if (block === null) {
      calls.turned();
      return;
    }
    const error = blockedError(block, leaseMs, calls);
    if (continuous === null) {
      report(hooks, error, "eventLoop");
      return;
    }
    renewLeases();
    setTimeout(() => report(hooks, error, "eventLoop"), 0);
  });
  calls.watchWith(watch);
  return watch;
}

/** The error that names the tasks whose leases a block of the event loop has put at risk. */
function blockedError(
  { blockedMs, affectsFromMs, cpuMs }: Block,
  leaseMs: number,
  calls: RunningCalls,
): EventLoopBlocked {
  const attempts = calls.ranAt(affectsFromMs).flatMap((call) => call.attempts);
  const tasks = attempts.map(({ task: { id, name, attempt } }) => ({ id, name, attempt }));
  const leaseEndsAtMs = Math.min(...attempts.map(({ lease }) => lease.endsAtMs));
  const leaseLeftMs = attempts.length === 0 ? null : leaseEndsAtMs - monotonicMs();
  const names = tasks.map(({ name }) => name);
  return new EventLoopBlocked(blockedMs, leaseMs, names, { tasks, leaseLeftMs, cpuMs });
}
