import type { Backoff } from "../core/backoff.ts";
import type { Wadi } from "../producer/wadi.ts";
import type { ByteLimits } from "./bytes.ts";
import type { Endless } from "./endless.ts";
import type { WorkerHooks } from "./hooks.ts";
import type { PoolSizes } from "./pools.ts";
import type { Registration } from "./registration.ts";
import type { Unreturned } from "./unreturned.ts";

/** What a drain is to do. */
export interface DrainPlan extends PoolSizes, ByteLimits {
  readonly wadi: Wadi;
  readonly hooks: WorkerHooks;
  readonly registrations: readonly Registration[];
  readonly leaseMs: number;
  readonly backoff: Backoff;
  /** Begins every lease token. */
  readonly name: string;
  /** When it must be over, on the monotonic clock, as all times of a drain are; `Infinity` if it is endless. */
  readonly deadlineMs: number;
  /** Time kept at the end to settle what was stopped, in milliseconds. */
  readonly reserveMs: number;
  readonly maxTasks: number;
  /** Stops the drain as its deadline would. */
  readonly signal: AbortSignal | undefined;
  /** Present if it goes on when nothing is due. */
  readonly endless: Endless | null;
  /** What one drain of a worker learns and the next one begins with. */
  readonly learned: { limited: boolean };
  /** Calls of all drains of a worker that go on although their attempts have ended. */
  readonly unreturned: Unreturned;
}
