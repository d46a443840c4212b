/** The contract of a hint: two kinds of small texts outside of the database, which say whether a drain needs it. */

/**
 * Where the next due time is kept outside of the database, so that a drain with nothing to do does not touch it:
 * `hintInKv`, `hintByDurableObject`, `hintInMemory`, or functions of the application. A store needs neither
 * transactions nor immediate consistency. Each database needs a separate one, or a separate key in it.
 */
export interface Hint {
  /** The text of a cell, or null if it was never set or is lost. It may be an older text than the newest. */
  readonly get: (cell: string) => Promise<string | null> | string | null;
  /** Stores the text of a cell. */
  readonly set: (cell: string, text: string) => unknown;
  /**
   * The database is asked at least this often, in milliseconds, whatever the hint says: it bounds how late a lost hint,
   * or a submit from a client without one, can make a task. From 1000 to 31 days.
   * @default 3600000, an hour
   */
  readonly maxAgeMs?: number | undefined;
}

/** Options of the ready-made hints. */
export type HintOptions = Pick<Hint, "maxAgeMs">;
