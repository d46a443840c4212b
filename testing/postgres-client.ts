import pg from "pg";
import type { Row, Value } from "../src/core/executor.ts";
import type { StatementName, StatementParams } from "../src/core/generated/statements.ts";
import { bind } from "../src/core/operations/statement.ts";
import { postgres } from "../src/protocol/postgres.ts";
import { createDatabase } from "./postgres.ts";

/** A connection to run single protocol statements on, prepared, with every cell as text. */
export interface StatementClient {
  readonly url: string;
  run<N extends StatementName>(name: N, values: StatementParams[N]): Promise<Row[]>;
  query(sql: string, params?: readonly Value[]): Promise<Row[]>;
  end(): Promise<void>;
}

export async function connectStatements(url: string): Promise<StatementClient> {
  const client = new pg.Client({
    connectionString: url,
    types: { getTypeParser: () => (text: string) => text },
  });
  await client.connect();
  return {
    url,
    async run(name, values) {
      const { sql, params } = bind({ protocol: postgres }, name, values);
      return (
        await client.query({ name, text: sql, values: params.map((value) => value?.toString() ?? null) })
      ).rows;
    },
    query: async (sql, params = []) => (await client.query(sql, [...params])).rows,
    end: () => client.end(),
  };
}

/** A connection to a fresh database with all migrations applied. */
export async function createStatementDatabase(): Promise<StatementClient> {
  const client = await connectStatements(await createDatabase());
  for (const { statements } of postgres.migrations) for (const sql of statements) await client.query(sql);
  return client;
}
