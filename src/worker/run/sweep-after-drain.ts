import type { Executor } from "../../core/executor.ts";
import { NEVER } from "../../core/infinity.ts";
import { monotonicMs, toEpochMs } from "../../core/monotonic-clock.ts";
import { sweepTasks } from "../../core/operations/control.ts";
import type { QueryMeter } from "../../core/session/query-meter.ts";
import { type MaintenanceOptions, SWEEP_LIMIT } from "./table-maintenance.ts";

/** Pause between the sweeps of short drains in one process. */
const PAUSE_MS = 60_000;
/** A drain with less time left than this does not sweep. */
const MIN_TIME_LEFT_MS = 1000;

let lastSweepMs = -NEVER;
/** The last sweep that each executor knows of: executors that are drained in turn are swept in turn too. */
const lastSweepsMs = new WeakMap<Executor, number>();

/**
 * Sweeps once in the remaining time of a short drain, which has no maintenance: at most once a minute for each
 * executor; executors that are made again for each request share one minute. True if the sweep was sent.
 */
export async function sweepAfterDrain(
  { wadi, retention, meter, report }: Omit<MaintenanceOptions, "sweepMs"> & { readonly meter?: QueryMeter },
  deadlineMs: number,
): Promise<boolean> {
  const nowMs = monotonicMs();
  if (retention.length === 0 || deadlineMs - nowMs < MIN_TIME_LEFT_MS) return false;
  const lastMs = lastSweepsMs.get(wadi.executor) ?? lastSweepMs;
  lastSweepsMs.set(wadi.executor, lastMs);
  if (nowMs - lastMs < PAUSE_MS) return false;
  lastSweepsMs.set(wadi.executor, nowMs);
  lastSweepMs = nowMs;
  const { session } = wadi;
  await session
    .execute(sweepTasks(session.target, retention, SWEEP_LIMIT), { deadlineMs: toEpochMs(deadlineMs), meter })
    .catch((error) => report(error, "sweep"));
  return true;
}
