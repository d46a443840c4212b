import { monotonicMs } from "../../core/clock.ts";

/** How often the loop is looked at, at most and at least, in milliseconds. */
const MAX_TICK_MS = 1000;
const MIN_TICK_MS = 10;
/** A block is reported from this share of a lease on: three more of its kind and the lease is gone. */
const SHARE = 4;

/** A stretch in which the event loop stood still. */
export interface Block {
  readonly blockedMs: number;
  /** What was running then held it up, or was held up by it, for a quarter of a lease; on the monotonic clock. */
  readonly heldFromMs: number;
  /** CPU time of the process meanwhile, in milliseconds; null where the platform does not say. */
  readonly cpuMs: number | null;
}

export interface LoopWatch {
  /** The timer of the watch is due then, on the monotonic clock: what runs later runs in a turn that took too long. */
  readonly dueAtMs: number;
  /** Ends the watch. A block that is not over yet, or has ended in this very turn, is reported before. */
  stop(): void;
}

/** The clocks of a watch. */
export interface LoopClocks {
  now(): number;
  /** CPU time of the process so far, in milliseconds; null where the platform does not say. */
  cpu(): number | null;
}

/** CPU time of this process so far, of all its threads, in milliseconds; null where the platform does not say. */
function cpuTimeMs(): number | null {
  try {
    const { process: own } = globalThis as {
      readonly process?: { cpuUsage?(): { user: number; system: number } };
    };
    const used = own?.cpuUsage?.();
    return used === undefined ? null : (used.user + used.system) / 1000;
  } catch {
    return null; // a sandbox that defines it to refuse it
  }
}

const CLOCKS: LoopClocks = { now: monotonicMs, cpu: cpuTimeMs };

/**
 * Calls `onLook` now and then: with a block after each stretch in which the event loop stood still for a quarter of a lease or
 * longer, as soon as it turns again, and else with null. A process that was suspended counts too: it could not renew a lease either.
 */
export function watchEventLoop(
  leaseMs: number,
  onLook: (block: Block | null) => void,
  { now, cpu }: LoopClocks = CLOCKS,
): LoopWatch {
  const thresholdMs = leaseMs / SHARE;
  const tickMs = Math.max(MIN_TICK_MS, Math.min(MAX_TICK_MS, Math.floor(thresholdMs / 2)));
  let dueAtMs = now() + tickMs;
  let cpuBeforeMs = cpu();
  const look = () => {
    const nowMs = now();
    const blockedMs = nowMs - dueAtMs;
    const cpuNowMs = cpu();
    const cpuMs = cpuNowMs === null || cpuBeforeMs === null ? null : cpuNowMs - cpuBeforeMs;
    cpuBeforeMs = cpuNowMs;
    dueAtMs = nowMs + tickMs;
    onLook(blockedMs >= thresholdMs ? { blockedMs, heldFromMs: nowMs - thresholdMs, cpuMs } : null);
  };
  const timer = setInterval(look, tickMs);
  return {
    get dueAtMs() {
      return dueAtMs;
    },
    stop() {
      clearInterval(timer);
      look();
    },
  };
}
