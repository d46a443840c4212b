/**
 * The driver for PGlite, Postgres in WebAssembly inside the process: for tests, browsers and local applications. It has
 * interactive transactions, and push with LISTEN.
 */

import { causeChain } from "../core/errors/causes.ts";
import type { Executor, Limits, OpenTransaction, Row, Statement } from "../core/executor.ts";
import {
  isTransaction,
  type PgliteLike,
  type PgliteQueryOptions,
  type PgliteTransactionLike,
} from "./postgres/pglite-client.ts";
import { type PgSchemaOption, protocolIn } from "./postgres/schema.ts";
import { classifySqlState, sqlStateOf } from "./postgres/sqlstate.ts";
import { checkClient, checkOptions } from "./shared/check-arguments.ts";

export type { PgliteLike, PgliteQueryOptions, PgliteTransactionLike } from "./postgres/pglite-client.ts";
export type { PgSchemaOption } from "./postgres/schema.ts";

// WebAssembly memory ends at 4 GB, and while a value is written there are several copies of it.
const LIMITS: Limits = { maxParamBytes: 64 * 1024 * 1024, maxBatchStatements: 1000 };

/** Types whose cells PGlite would parse into other values: bool, bytea, int8, dates, json and jsonb. */
const PARSED_TYPES = [16, 17, 20, 114, 1082, 1114, 1184, 3802];

/** Such cells stay text. Each parameter is sent as text, and the statement decides its type. */
const AS_TEXT: PgliteQueryOptions = {
  parsers: Object.fromEntries(PARSED_TYPES.map((type) => [type, (cell: string) => cell])),
  serializers: new Proxy({}, { get: () => String }), // PGlite looks up the serializer of a type, and does nothing else
};

/**
 * An executor on a `PGlite`, Postgres inside this process, which the application closes.
 *
 * It is one connection: while you hold a transaction open, Wadi's calls wait for its end. So inside a transaction await
 * only the calls that are bound to it (`wadi.with(tx)`). A batch needs no isolation level, because nothing runs
 * concurrently.
 *
 * @example
 * ```ts
 * import { PGlite } from "@electric-sql/pglite";
 * import { Wadi } from "wadi";
 * import { pglite } from "wadi/pglite";
 *
 * const wadi = new Wadi(pglite(new PGlite("./data")));
 * ```
 */
export function pglite(client: PgliteLike, options: PgSchemaOption = {}): Executor<never, false> {
  checkClient("pglite", client, "a PGlite", ["query", "transaction"]);
  checkOptions("pglite", options, { schema: null });
  const traits = {
    name: "pglite",
    dialect: "postgres",
    protocol: protocolIn(options.schema),
    limits: LIMITS,
    database: client,
    classify: (error: unknown) => {
      const code = sqlStateOf(error);
      if (code !== undefined) return classifySqlState(code);
      // The engine runs in this process, so its answer is never lost.
      return client.closed && causeChain(error).length > 0 ? "unusable" : "rejected";
    },
  } as const;
  return {
    ...traits,
    run: (statement) => run(client, statement),
    batch: async (statements) =>
      statements.length === 0 ? [] : client.transaction((tx) => runAll(tx, statements)),
    transaction: (fn) =>
      client.transaction((tx) =>
        fn({
          ...traits,
          run: (statement) => run(tx, statement),
          batch: (statements) => runAll(tx, statements),
          close: async () => {},
        }),
      ),
    within: (tx): OpenTransaction<false> | null =>
      isTransaction(tx) ? { isSync: false, batch: (statements) => runAll(tx, statements) } : null,
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
}

async function run(on: PgliteLike | PgliteTransactionLike, { sql, params }: Statement): Promise<Row[]> {
  const { rows } = await on.query(sql, [...params], AS_TEXT);
  return rows as Row[];
}

async function runAll(tx: PgliteTransactionLike, statements: readonly Statement[]): Promise<Row[][]> {
  const results: Row[][] = [];
  for (const statement of statements) results.push(await run(tx, statement));
  return results;
}
