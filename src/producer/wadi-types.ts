// Types of a `Wadi` by its executor: whether `with(tx)` is synchronous, and which statements its client has.
import type { Executor } from "../core/executor.ts";
import type { Wadi } from "./wadi.ts";

/**
 * The type of the `Wadi` over an executor, or over what a driver returns, for a variable or a parameter that keeps
 * what its executor can do: `WadiOf<ReturnType<typeof betterSqlite3>>`, `WadiOf<typeof executor>`.
 */
export type WadiOf<E> = E extends Executor<infer Native, infer Sync> ? Wadi<Native, Sync> : never;

/** A `Wadi` whose `with(tx)` is synchronous, as over better-sqlite3. */
export type SyncWadi = Wadi<never, true>;
