/** The options of `new Wadi`, and the list of their names. */
import type { RetryPolicy } from "../core/session/retry-options.ts";
import type { Hint } from "./hint/hint.ts";
import type { MetadataHook } from "./submit/metadata.ts";
import type { Wake } from "./wake/wake.ts";

/** Options of `new Wadi`. */
export interface WadiOptions {
  /**
   * How a request of this client is sent again when the database is busy, unreachable, or did not answer. Attempts of
   * tasks are not concerned: those are `maxAttempts`.
   * @default { tries: 6, baseMs: 50, capMs: 1000 }
   */
  readonly requestRetry?: Partial<RetryPolicy> | undefined;
  /** Replaces the clock of the database, in epoch milliseconds. For tests only. @default the clock of the database */
  readonly clock?: (() => number) | undefined;
  /**
   * Most queued tasks of each queue, or of each queue that is named, before a submit waits or is refused. It is a
   * soft limit: each producer reads the room that is left and uses it for up to a second, so that several producers,
   * or submits in flight, may exceed it together. From 1 to 1000000. @default no limit
   */
  readonly maxQueueDepth?: number | { readonly [queue: string]: number } | undefined;
  /** How long a submit waits for room before it fails with `QueueFull`, in milliseconds. Minimum `0`. @default 0 */
  readonly maxQueueWaitMs?: number | undefined;
  /**
   * Called at each submit; its result is added to the task's metadata. Entries of the submit override it.
   * @default none
   */
  readonly metadata?: MetadataHook | undefined;
  /**
   * Whether a key is one piece of work whatever the name of its task, as it is for other SDKs of the protocol: a submit
   * then gets, or replaces, the task of another name. Else it is refused with `AlreadyExists`. @default false
   */
  readonly keysAcrossNames?: boolean | undefined;
  /**
   * Names the database within this process. Every `Wadi` of one database wakes the waits and workers of the others,
   * also those of other copies of this module, as bundlers make them. Needed where the driver does not know it
   * (libSQL and Neon, unless they share one client).
   * @default what the driver knows: file, host and database, or the client object
   */
  readonly database?: string | undefined;
  /**
   * Starts a drain soon after a submit: `wakeByFetch`, `wakeByBinding`, `wakeByQueue`, `wakeByDurableObject`,
   * `wakeInProcess`, or a function. It is called unless the submit's round trip says that a drain is active or was
   * kicked in the last 5 s. A short drain that leaves due tasks calls it too. Submits do not wait for it.
   * @default none: tasks wait for the next drain
   */
  readonly wake?: Wake | undefined;
  /**
   * Where the next due time is kept outside of the database, so that a drain with nothing to do does not touch it:
   * `hintInKv`, `hintByDurableObject`, `hintInMemory`, or functions. Give it to all that submit, control or drain.
   * @default none: each drain asks the database
   */
  readonly hint?: Hint | undefined;
  /**
   * Keeps the invocation alive until a kick was sent, or the hint written: `(promise) => ctx.waitUntil(promise)` on
   * Cloudflare.
   * @default on Vercel, that of the present invocation; elsewhere none
   */
  readonly waitUntil?: ((promise: Promise<unknown>) => void) | undefined;
  /**
   * Called for each kick, and each write of the hint after a commit, that failed; no submit fails by it. Its own errors
   * are dropped.
   * @default console.warn
   */
  readonly onError?:
    | ((error: unknown, context: { readonly operation: "wake" | "hint" }) => unknown)
    | undefined;
  /**
   * The environment that this client runs in, such as `production` or `preview`: never the id of a deployment. The
   * database keeps the scope it belongs to, and a client of another one, or of none, submits and reads, but claims,
   * recovers and deletes nothing (`ScopeMismatch`), so that a copy of the database does not run production's tasks.
   *
   * A client of the scope `production` stores it at its first claim in a database that has none; `migrate` and `adopt`
   * store any scope. 1 to 64 letters, digits, `-`, `_` or `.`.
   *
   * @default on Vercel the environment (`VERCEL_TARGET_ENV`, else `VERCEL_ENV`), elsewhere none
   * @example
   * ```ts
   * import { Wadi } from "wadi";
   * import { betterSqlite3 } from "wadi/better-sqlite3";
   *
   * const wadi = new Wadi(betterSqlite3(db), { scope: process.env.APP_ENV });
   * ```
   */
  readonly scope?: string | undefined;
}

export const WADI_OPTIONS = Object.keys({
  requestRetry: true,
  clock: true,
  maxQueueDepth: true,
  maxQueueWaitMs: true,
  metadata: true,
  keysAcrossNames: true,
  database: true,
  wake: true,
  hint: true,
  waitUntil: true,
  onError: true,
  scope: true,
} satisfies Record<keyof WadiOptions, true>);
