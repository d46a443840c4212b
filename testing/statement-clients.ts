import Database from "better-sqlite3";
import type { Dialect, Executor, Row } from "../src/core/executor.ts";
import type { StatementName, StatementParams } from "../src/core/generated/statements.ts";
import { bind } from "../src/core/operations/statement.ts";
import { betterSqlite3 } from "../src/drivers/better-sqlite3.ts";
import { sqlite } from "../src/protocol/sqlite.ts";
import { createStatementDatabase } from "./postgres-client.ts";

/** Runs single statements of one dialect on a fresh, empty database. */
export interface DialectClient {
  run<N extends StatementName>(name: N, values: StatementParams[N]): Promise<Row[]>;
  query(sql: string): Promise<Row[]>;
  end(): Promise<void>;
}

export async function openDialect(dialect: Dialect): Promise<DialectClient> {
  if (dialect === "postgres") return createStatementDatabase();
  return openSqlite(betterSqlite3(new Database(":memory:")));
}

/** The tables of SQLite, and its statements through an executor of an empty database. */
export async function openSqlite(executor: Executor): Promise<DialectClient> {
  for (const { statements } of sqlite.migrations) {
    await executor.batch(statements.map((sql) => ({ sql, params: [] })));
  }
  return {
    run: (name, values) => executor.run(bind({ protocol: sqlite }, name, values)),
    query: (sql) => executor.run({ sql, params: [] }),
    end: async () => executor.close(),
  };
}
