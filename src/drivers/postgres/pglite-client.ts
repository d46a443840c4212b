// The part of PGlite that Wadi uses, so that the driver does not import the package.

/** How PGlite reads and writes the values of one query. */
export interface PgliteQueryOptions {
  parsers: Record<number, (cell: string) => string>;
  serializers: Record<number, (value: unknown) => string>;
}

/** The part of a PGlite transaction that Wadi uses: the argument of the callback of `transaction()`. */
export interface PgliteTransactionLike {
  readonly closed: boolean;
  query(text: string, params: unknown[], options: PgliteQueryOptions): Promise<{ readonly rows: unknown[] }>;
  rollback(): Promise<void>;
}

/** The part of a `PGlite` (also of one in a worker) that Wadi uses. */
export interface PgliteLike {
  readonly closed: boolean;
  readonly waitReady: Promise<unknown>;
  query(text: string, params: unknown[], options: PgliteQueryOptions): Promise<{ readonly rows: unknown[] }>;
  transaction<T>(work: (tx: PgliteTransactionLike) => Promise<T>): Promise<T>;
  listen(channel: string, onPayload: (payload: string) => void): Promise<() => Promise<void>>;
}

/** Whether `tx` is an open transaction of a PGlite. */
export function isTransaction(tx: unknown): tx is PgliteTransactionLike {
  if (typeof tx !== "object" || tx === null || "waitReady" in tx) return false;
  const { query, rollback, closed } = tx as Partial<PgliteTransactionLike>;
  return typeof query === "function" && typeof rollback === "function" && closed === false;
}
