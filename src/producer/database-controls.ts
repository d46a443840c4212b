/** What a `Wadi` offers to prepare its database, or the copy of one. */
import type { MigrateOptions } from "../core/migrations/migrate.ts";
import type { CallOptions, SubmitCallOptions } from "./call-options.ts";

/** The methods of a `Wadi` that prepare its database: create the tables, and say whose they are. */
export interface DatabaseControls {
  /**
   * Applies missing migrations. Usually not needed: the first operation that finds no tables does the same. Optional
   * migrations are applied only here, and only here a client of a scope other than production stores it, if the
   * database has none. It ends after ten minutes unless `call` gives another deadline.
   *
   * @example await wadi.migrate({ mixedFleet: true });
   */
  migrate(options?: MigrateOptions, call?: SubmitCallOptions): Promise<void>;
  /**
   * Makes the database belong to the scope of this client from now on, whatever scope it belonged to. Workers of this
   * scope run the tasks that are in it, and those of the scope before are refused. One round trip.
   *
   * @throws {InvalidArgument} if this client has no scope.
   * @example await wadi.adopt();
   */
  adopt(call?: CallOptions): Promise<void>;
  /**
   * Deletes what the copy of a database brought along, then makes the database belong to the scope of this client:
   * all queued and running tasks with their keys, and all schedules, pauses and kicks. Tasks that have ended and the
   * limits of keys stay. It deletes in pages, each one round trip, so that it may be interrupted and called again.
   *
   * It does nothing where the database belongs to this client's scope already, so that every deployment of a preview
   * may call it. Never call it on the original: it cannot know a copy from the database that was copied.
   *
   * @throws {InvalidArgument} if this client has no scope.
   * @throws {ScopeMismatch} if the database belongs to no scope.
   * @example
   * ```ts
   * const { deleted } = await wadi.clear();
   * console.log(`deleted ${deleted} tasks of the original`);
   * ```
   */
  clear(options?: ClearOptions, call?: CallOptions): Promise<ClearResult>;
}

/** How a `clear` deletes. */
export interface ClearOptions {
  /** Most rows of each table that one round trip deletes. From 1 to 100000. @default 1000 */
  readonly pageSize?: number | undefined;
}

/** What a `clear` did. */
export interface ClearResult {
  /** Tasks deleted; 0 if the database belonged to this scope already. */
  readonly deleted: number;
}
