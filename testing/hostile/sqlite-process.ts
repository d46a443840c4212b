// Runs the rounds on one SQLite engine in a separate process: a statement that never ends can only be killed.
import { createClient } from "@libsql/client";
import { bind } from "../../src/core/operations/statement.ts";
import { libsql } from "../../src/drivers/libsql.ts";
import { sqlite } from "../../src/protocol/sqlite.ts";
import { type DialectClient, openDialect } from "../statement-clients.ts";
import { checkRounds } from "./property.ts";

const [, , engine, rounds] = process.argv;

async function openLibsql(): Promise<DialectClient> {
  const executor = libsql(createClient({ url: ":memory:" }));
  for (const { statements } of sqlite.migrations) {
    await executor.batch(statements.map((sql) => ({ sql, params: [] })));
  }
  return {
    run: (name, values) => executor.run(bind({ protocol: sqlite }, name, values)),
    query: (sql) => executor.run({ sql, params: [] }),
    end: () => executor.close(),
  };
}

const client = engine === "libsql" ? await openLibsql() : await openDialect("sqlite");
process.stdout.write(String(await checkRounds("sqlite", client, Number(rounds))));
