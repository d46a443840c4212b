// An SQLite database and a Postgres database that get the same statements and must answer with the same rows.

import Database from "better-sqlite3";
import { expect } from "vitest";
import type { Row } from "../src/core/executor.ts";
import type { StatementName, StatementParams } from "../src/core/generated/statements.ts";
import { bind } from "../src/core/operations/statement.ts";
import { sqlite as protocol } from "../src/protocol/sqlite.ts";
import { createStatementDatabase } from "./postgres-client.ts";
import type { TaskInput } from "./task-input.ts";

const JSON_COLUMNS = ["payload", "result", "error", "expired_error", "metadata"];

export type DialectTwins = Awaited<ReturnType<typeof createDialectTwins>>;

export async function createDialectTwins() {
  const postgres = await createStatementDatabase();
  const sqlite = new Database(":memory:");
  for (const { statements } of protocol.migrations) for (const sql of statements) sqlite.exec(sql);

  /** Runs one statement on both databases, expects the same rows in any order and returns them. */
  async function both<N extends StatementName>(name: N, values: StatementParams[N]): Promise<Row[]> {
    const rows = normalize(onSqlite(name, values));
    expect(normalize(await postgres.run(name, values)), `${name} ${JSON.stringify(values)}`).toEqual(rows);
    return rows;
  }

  function onSqlite<N extends StatementName>(name: N, values: StatementParams[N]): Row[] {
    const { sql, params } = bind({ protocol }, name, values);
    const statement = sqlite.prepare<unknown[], Row>(sql);
    if (statement.reader) return statement.all(...params);
    statement.run(...params);
    return [];
  }

  async function submitKeyed(tasks: readonly TaskInput[], now_ms: number): Promise<void> {
    const json = JSON.stringify(tasks);
    const values = { keys_json: json, tasks_json: json, now_ms };
    const rows = sqlite.transaction(() => {
      onSqlite("cancel_replaced_tasks", values);
      onSqlite("free_task_keys", values);
      onSqlite("insert_keyed_tasks", values);
      onSqlite("insert_task_keys", values);
      return onSqlite("select_keyed_tasks", values);
    })();
    await postgres.query("begin");
    await postgres.run("lock_task_keys", values);
    await postgres.run("cancel_replaced_tasks", values);
    await postgres.run("lock_debounced_tasks", values);
    const twins = await postgres.run("submit_keyed_tasks", values);
    await postgres.query("commit");
    expect(normalize(twins), JSON.stringify(tasks)).toEqual(normalize(rows));
  }

  async function expectEqualTables(): Promise<void> {
    for (const sql of ["select * from cairnq_tasks", "select key, task_id from cairnq_task_keys"]) {
      expect(normalize(await postgres.query(sql))).toEqual(
        normalize(sqlite.prepare<unknown[], Row>(sql).all()),
      );
    }
  }

  async function end(): Promise<void> {
    await postgres.end();
    sqlite.close();
  }

  return { both, onSqlite, onPostgres: postgres.run.bind(postgres), submitKeyed, expectEqualTables, end };
}

/** One form for both: text cells, JSON with sorted fields, sorted rows. */
function normalize(rows: readonly Row[]): Row[] {
  return rows
    .map((row) =>
      Object.fromEntries(
        Object.entries(row)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([column, value]) => {
            if (value === null) return [column, null];
            return [column, JSON_COLUMNS.includes(column) ? sortFields(String(value)) : String(value)];
          }),
      ),
    )
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

function sortFields(json: string): string {
  return JSON.stringify(JSON.parse(json), (_, value: unknown) =>
    value !== null && typeof value === "object" && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}
