import { causeChain } from "../core/errors/causes.ts";
import type { Executor, Limits, OpenTransaction, Row, Statement } from "../core/executor.ts";
import { type PgSchemaOption, protocolIn } from "./postgres/schema.ts";
import { classifySqlState, sqlStateOf } from "./postgres/sqlstate.ts";
import { checkClient, checkOptions } from "./shared/options.ts";

export type { PgSchemaOption } from "./postgres/schema.ts";

/** How PGlite reads and writes the values of one query. */
export interface PgliteQueryOptions {
  parsers: Record<number, (cell: string) => string>;
  serializers: Record<number, (value: unknown) => string>;
}

/** The part of a PGlite transaction that Wadi uses: what `transaction()` hands to its callback. */
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

// WebAssembly memory ends at 4 GB, and a value is in it several times while it is written.
const limits: Limits = { maxParamBytes: 64 * 1024 * 1024, maxBatchStatements: 1000 };

/** What PGlite would make something else of than text or a number: bool, bytea, int8, dates, json and jsonb. */
const PARSED_TYPES = [16, 17, 20, 114, 1082, 1114, 1184, 3802];

/** Such cells stay text, and each value goes as text and gets its type from the statement. */
const AS_TEXT: PgliteQueryOptions = {
  parsers: Object.fromEntries(PARSED_TYPES.map((type) => [type, (cell: string) => cell])),
  serializers: new Proxy({}, { get: () => String }), // it has one for each type, and is asked for that alone
};

/**
 * An executor on a `PGlite`, Postgres inside this process, which stays yours to close.
 *
 * It is one connection: while you hold a transaction open, Wadi's calls wait for its end. So do not await Wadi inside
 * one, but for what is bound to it. A batch needs no isolation level, because nothing runs beside it.
 */
export function pglite(client: PgliteLike, options: PgSchemaOption = {}): Executor<never, false> {
  checkClient("pglite", client, "a PGlite", ["query", "transaction"]);
  checkOptions("pglite", options, { schema: null });
  const on = (target: PgliteLike | PgliteTransactionLike) => {
    const run = async ({ sql, params }: Statement) => {
      const { rows } = await target.query(sql, [...params], AS_TEXT);
      return rows as Row[];
    };
    const batch = async (statements: readonly Statement[]) => {
      const results: Row[][] = [];
      for (const statement of statements) results.push(await run(statement));
      return results;
    };
    return { run, batch };
  };
  const protocol = protocolIn(options.schema);
  const traits = {
    name: "pglite",
    dialect: "postgres",
    protocol,
    limits,
    database: client,
    classify,
  } as const;
  return {
    ...traits,
    run: on(client).run,
    batch: async (statements) =>
      statements.length === 0 ? [] : client.transaction((tx) => on(tx).batch(statements)),
    transaction: (fn) => client.transaction((tx) => fn({ ...traits, ...on(tx), close: async () => {} })),
    within: (tx): OpenTransaction<false> | null =>
      isTransaction(tx) ? { isSync: false, batch: on(tx).batch } : null,
    async listen(channels, onSignal) {
      const stops = await Promise.all(
        channels.map((channel) => client.listen(`"${channel}"`, (payload) => onSignal(channel, payload))),
      );
      return () => {
        for (const stop of stops) stop().catch(() => {}); // it was closed in the meantime
      };
    },
    async close() {},
  };

  function classify(error: unknown) {
    const code = sqlStateOf(error);
    if (code !== undefined) return classifySqlState(code);
    // The engine runs in this process, so its answer is never lost.
    return client.closed && causeChain(error).length > 0 ? "unusable" : "rejected";
  }
}

function isTransaction(tx: unknown): tx is PgliteTransactionLike {
  if (typeof tx !== "object" || tx === null || "waitReady" in tx) return false;
  const { query, rollback, closed } = tx as Partial<PgliteTransactionLike>;
  return typeof query === "function" && typeof rollback === "function" && closed === false;
}
