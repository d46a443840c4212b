/** Derives the baseline: what an empty SQLite database needs to be as all migrations would leave it. */
import Database from "better-sqlite3";
import type { Migration } from "../../src/core/protocol.ts";

/** Columns whose value is the time at which the database is set up, and the SQL of it. */
const CLOCK_COLUMNS: Readonly<Record<string, string>> = {
  applied_at_ms: "cast(round(unixepoch('subsec') * 1000) as integer)",
};

/**
 * Applies the migrations to a database in memory, and reads from it the statements that create the same tables,
 * indexes, triggers and rows. They have no `if not exists`: on a database that is not empty they fail.
 */
export function baselineOf(migrations: readonly Migration[]): string[] {
  const db = new Database(":memory:");
  try {
    for (const { statements } of migrations) for (const sql of statements) db.exec(sql);
    // In the order of their creation, in which an object comes after those that it needs.
    const objects = db
      .prepare<[], { type: string; name: string; sql: string }>(
        "select type, name, sql from sqlite_master where sql is not null and name not like 'sqlite_%' order by rowid",
      )
      .all();
    const tables = objects.filter(({ type }) => type === "table");
    return [...objects.map(({ sql }) => sql), ...tables.flatMap(({ name }) => insertRows(db, name))];
  } finally {
    db.close();
  }
}

/** One statement that inserts the rows of a table; none if it is empty. */
function insertRows(db: Database.Database, table: string): string[] {
  const rows = db.prepare<[], Record<string, string | number | null>>(`select * from ${table}`).all();
  if (rows.length === 0) return [];
  const values = rows.map((row) => `(${Object.entries(row).map(literal).join(", ")})`);
  return [`insert into ${table} (${Object.keys(rows[0]!).join(", ")}) values ${values.join(", ")}`];
}

function literal([column, value]: [string, string | number | null]): string {
  if (typeof value === "string") return `'${value.replaceAll("'", "''")}'`;
  return CLOCK_COLUMNS[column] ?? String(value);
}
