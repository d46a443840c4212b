// The part of @neondatabase/serverless that Wadi uses, so that the driver does not import the package.

/** How one query is sent and read. */
export interface NeonQueryOptions {
  arrayMode: false;
  fullResults: false;
  types: { getTypeParser(): (cell: string) => string };
  fetchOptions?: { signal: AbortSignal };
}

/** The part of the function returned by `neon(url)` of `@neondatabase/serverless` that Wadi uses. */
export interface NeonQueryFunctionLike<Q extends NeonQueryLike = NeonQueryLike> {
  (strings: TemplateStringsArray, ...params: unknown[]): Q;
  /** Sends nothing until it is awaited, and each `then` or `await` sends the query again. */
  query(text: string, params: unknown[], options: NeonQueryOptions): PromiseLike<unknown>;
  transaction(queries: never, options: NeonTransactionOptions): Promise<unknown[]>;
}

/** A query of the Neon driver, not sent yet. */
export interface NeonQueryLike extends PromiseLike<unknown> {
  readonly queryData: unknown;
}

/** How an array of queries is sent as one transaction, and read. */
export interface NeonTransactionOptions {
  isolationLevel: "ReadCommitted";
  arrayMode: false;
  fullResults: false;
  fetchOptions?: { signal: AbortSignal };
}
