/** Counts the statements of handlers, for platforms that limit the statements of an invocation. */

import { QueryLimit } from "../../core/errors/errors.ts";
import { QueryMeter } from "../../core/session/query-meter.ts";

/** The queries of one drain, which its attempts share. */
export interface SharedQueries {
  readonly maxQueries: number;
  /** Whether `share` may send that many more statements. */
  grants(share: QueryShare, statements: number): boolean;
  /** The attempt of `share` sends that many statements. */
  sent(share: QueryShare, statements: number): void;
  /** The attempt of `share` has ended. */
  ended(share: QueryShare): void;
}

/**
 * Counts the statements that one attempt sends through its context, and refuses those that its drain needs for
 * settling.
 */
export class QueryShare extends QueryMeter {
  readonly #all: SharedQueries;

  constructor(all: SharedQueries) {
    super();
    this.#all = all;
  }

  /** @throws {QueryLimit} before anything is sent. */
  override count(statements: number): void {
    if (!this.#all.grants(this, statements)) throw new QueryLimit(this.#all.maxQueries);
    super.count(statements);
    this.#all.sent(this, statements);
  }

  /** The attempt has ended. */
  close(): void {
    this.#all.ended(this);
  }
}

/** Ignores a refusal for lack of queries: progress reports and heartbeats are optional. */
export function ignoreQueryLimit(error: unknown): void {
  if (!(error instanceof QueryLimit)) throw error;
}
