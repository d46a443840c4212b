import { QueryLimit } from "../../core/errors/errors.ts";
import { QueryMeter } from "../../core/session/query-meter.ts";

/** What the shares of a drain are parts of. */
export interface SharedQueries {
  readonly maxQueries: number;
  readonly meter: QueryMeter;
  /** Those who have sent something and have not ended. */
  readonly shares: Set<QueryShare>;
  /** Whether `share` may send that many statements more. */
  grants(share: QueryShare, statements: number): boolean;
}

/** Counts what one attempt sends through its context, and refuses what its drain needs to settle what it holds. */
export class QueryShare extends QueryMeter {
  readonly #all: SharedQueries;

  constructor(all: SharedQueries) {
    super();
    this.#all = all;
  }

  /** @throws {QueryLimit} before anything is sent. */
  override count(statements: number): void {
    const { maxQueries, meter, shares } = this.#all;
    if (!this.#all.grants(this, statements)) throw new QueryLimit(maxQueries);
    super.count(statements);
    meter.count(statements);
    shares.add(this);
  }

  /** The attempt has ended. */
  close(): void {
    this.#all.shares.delete(this);
  }
}

/** For what a handler can do without: nothing was sent, and that is all. */
export function unlessOutOfQueries(error: unknown): void {
  if (!(error instanceof QueryLimit)) throw error;
}
