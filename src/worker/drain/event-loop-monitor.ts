/** Notices when the event loop is blocked. */

import { monotonicMs } from "../../core/monotonic-clock.ts";

/** Longest and shortest time between two ticks of the watch, in milliseconds. */
const MAX_TICK_MS = 1000;
const MIN_TICK_MS = 10;
/**
 * A block of a quarter of a lease or longer is reported: after four of them without a heartbeat the lease has
 * expired.
 */
const SHARE = 4;

/** A time in which the event loop was blocked. */
export interface Block {
  readonly blockedMs: number;
  /**
   * Handlers that ran at this time blocked the loop, or were blocked, for a quarter of a lease; on the monotonic
   * clock.
   */
  readonly affectsFromMs: number;
  /** CPU time of the process during the block, in milliseconds; null where the platform does not report it. */
  readonly cpuMs: number | null;
}

export interface LoopWatch {
  /** When the next tick is due, on the monotonic clock: code that runs later runs in a turn that takes too long. */
  readonly dueAtMs: number;
  /** Ends the watch. A block that lasts until now is reported first. */
  stop(): void;
}

/** The clocks of a watch. */
export interface LoopClocks {
  now(): number;
  /** CPU time of the process so far, in milliseconds; null where the platform does not report it. */
  cpu(): number | null;
}

/** CPU time of this process so far, of all its threads, in milliseconds; null where the platform does not report it. */
function cpuTimeMs(): number | null {
  try {
    const { process: own } = globalThis as {
      readonly process?: { cpuUsage?(): { user: number; system: number } };
    };
    const used = own?.cpuUsage?.();
    return used === undefined ? null : (used.user + used.system) / 1000;
  } catch {
    return null; // a sandbox may define it as a function that throws
  }
}

const CLOCKS: LoopClocks = { now: monotonicMs, cpu: cpuTimeMs };

/**
 * Watches for blocks of the event loop. Calls `onTick` regularly: with a block if the loop was blocked for a quarter
 * of a lease or longer before this tick, otherwise with null. A suspended process counts as blocked: it could not
 * renew a lease either.
 */
export function watchEventLoop(
  leaseMs: number,
  onTick: (block: Block | null) => void,
  { now, cpu }: LoopClocks = CLOCKS,
): LoopWatch {
  const thresholdMs = leaseMs / SHARE;
  const tickMs = Math.max(MIN_TICK_MS, Math.min(MAX_TICK_MS, Math.floor(thresholdMs / 2)));
  let dueAtMs = now() + tickMs;
  let cpuBeforeMs = cpu();
  const tick = () => {
    const nowMs = now();
    const blockedMs = nowMs - dueAtMs;
    const cpuNowMs = cpu();
    const cpuMs = cpuNowMs === null || cpuBeforeMs === null ? null : cpuNowMs - cpuBeforeMs;
    cpuBeforeMs = cpuNowMs;
    dueAtMs = nowMs + tickMs;
    onTick(blockedMs >= thresholdMs ? { blockedMs, affectsFromMs: nowMs - thresholdMs, cpuMs } : null);
  };
  const timer = setInterval(tick, tickMs);
  return {
    get dueAtMs() {
      return dueAtMs;
    },
    stop() {
      clearInterval(timer);
      if (now() - dueAtMs >= thresholdMs) tick();
    },
  };
}
