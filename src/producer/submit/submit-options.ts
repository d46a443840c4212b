/** The options of one submit, as an application writes them, and the list of their names. */
import type { ConflictPolicy, Json } from "../../core/task.ts";
import type { FleetLimits } from "../fleet-limits.ts";
import type { OnFailedTask } from "../on-failed.ts";

/** How submits of one key in a burst become one task. */
export interface DebounceOptions {
  /** Quiet time in milliseconds after which the task is due. Minimum `1`. */
  readonly delayMs: number;
  /**
   * Milliseconds after its creation at which the task is due, however many submits follow. At least `delayMs`.
   * @default no limit
   */
  readonly maxDelayMs?: number | undefined;
}

/**
 * How often a key gets a new task. A submit in between creates nothing and returns the task that the key has. (Inngest
 * calls this `rateLimit`; its `throttle` delays, as `limits.rate` does here.)
 */
export interface ThrottleOptions {
  /** Window in milliseconds, from the creation of the key's task. Minimum `1`. */
  readonly perMs: number;
}

/** Options of `submit`, `call` and each entry of `submitMany`. Those of `defineTask` are the defaults. */
export interface SubmitOptions {
  /**
   * Business key, at most 1,024 characters and 2,600 bytes. At most one queued or running task has it, and `waitByKey`
   * waits by it. While a task of another name has it, a submit is refused with `AlreadyExists` whatever its conflict
   * policy; see `keysAcrossNames`.
   * @default none
   */
  readonly key?: string | undefined;
  /** What to do when the key already has a task, see `ConflictPolicy`. @default "reuse" */
  readonly conflict?: ConflictPolicy | undefined;
  /**
   * Joins a burst of submits of one key into one task: while it is queued, each submit replaces its payload and
   * metadata and postpones it. Needs a key; not together with `conflict`, `delayMs`, `runAt` or `throttle`.
   * @default none
   */
  readonly debounce?: DebounceOptions | undefined;
  /**
   * At most one new task for the key per window: a younger one is returned whatever its status, an older one is
   * subject to `conflict`. Needs a key; not together with `conflict: "reject"` or `debounce`.
   * @default none
   */
  readonly throttle?: ThrottleOptions | undefined;
  /**
   * Where the task waits; only workers of this queue claim it. At most 1,024 characters.
   * @default the definition's, else "default"
   */
  readonly queue?: string | undefined;
  /**
   * Attempts before a retryable failure is final, the first included. Minimum `1`.
   * @default the definition's, else 3
   */
  readonly maxAttempts?: number | undefined;
  /**
   * Leases that may expire before the task fails as `max_crashes`, even with attempts left. Minimum `1`.
   * @default the definition's, else 3
   */
  readonly maxCrashes?: number | undefined;
  /** Higher runs first, from -1000 to 1000. @default the definition's, else 0 */
  readonly priority?: number | undefined;
  /** Milliseconds until the task is due, by the database's clock. Minimum `0`. Not together with `runAt`. @default 0 */
  readonly delayMs?: number | undefined;
  /**
   * When the task is due, as a Date or epoch milliseconds; a time in the past is due at once. Not together with
   * `delayMs`. @default now
   */
  readonly runAt?: Date | number | undefined;
  /**
   * Milliseconds after its due time, or after the submit if it is due already, within which a worker must have claimed
   * the task. Else it ends as `canceled`, with the error code `expired`. Minimum `1`.
   * @default the definition's, else none: it waits for as long as it takes
   */
  readonly expiresInMs?: number | undefined;
  /** JSON values that are stored with the task, apart from its payload, such as a tenant. @default none */
  readonly metadata?: { readonly [key: string]: Json } | undefined;
  /**
   * Groups tasks of one request or process; `list` finds them by it, and children inherit it. At most 1,024 characters.
   * @default none
   */
  readonly correlationId?: string | undefined;
  /**
   * The task that this one belongs to, for a submit outside the handler of that task: `context.submit` sets it itself.
   * The parent need not exist or run. @default none
   */
  readonly parentId?: string | undefined;
  /** The first of its ancestors, by which `list` finds the whole family. Needs `parentId`. @default the parent */
  readonly rootId?: string | undefined;
  /**
   * How many tasks of a key run at a time, and start in a window of time, over all workers.
   * @default the definition's, else none
   */
  readonly limits?: FleetLimits | undefined;
  /**
   * The task to submit when this one has failed for good, with an `OnFailedPayload`: a definition without `limits`, or
   * a name; null for none. It is stored with this task, so that any worker and SDK that ends it submits it.
   * @default the definition's, else none
   */
  readonly onFailed?: OnFailedTask | null | undefined;
}

/** One entry of a `submitMany`: a payload, and the options of that task. */
export type SubmitEntry<Input = unknown> = SubmitOptions & { readonly payload: Input };

/** For messages about unknown options; a new option does not compile until it is listed. */
export const SUBMIT_OPTIONS = Object.keys({
  key: true,
  conflict: true,
  debounce: true,
  throttle: true,
  queue: true,
  maxAttempts: true,
  maxCrashes: true,
  priority: true,
  delayMs: true,
  runAt: true,
  expiresInMs: true,
  metadata: true,
  correlationId: true,
  parentId: true,
  rootId: true,
  limits: true,
  onFailed: true,
} satisfies Record<keyof SubmitOptions, true>);
