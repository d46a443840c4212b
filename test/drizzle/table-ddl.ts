import { is, SQL, type Table } from "drizzle-orm";
import { PgTable, getTableConfig as pgConfig } from "drizzle-orm/pg-core";
import { SQLiteSyncDialect, SQLiteTable, getTableConfig as sqliteConfig } from "drizzle-orm/sqlite-core";

type SqliteConfig = ReturnType<typeof sqliteConfig>;
type PgConfig = ReturnType<typeof pgConfig>;
type Column = SqliteConfig["columns"][number] | PgConfig["columns"][number];

/** The tables among a module's exports, by the names they are exported under. */
export function tablesOf(module: object): Record<string, Table> {
  const isTable = (value: unknown) => is(value, SQLiteTable) || is(value, PgTable);
  return Object.fromEntries(Object.entries(module).filter(([, value]) => isTable(value)));
}

export function configOf(table: Table): SqliteConfig | PgConfig {
  return is(table, SQLiteTable) ? sqliteConfig(table) : pgConfig(table as PgTable);
}

/** What creates `table` and its indexes, from nothing but its own configuration. */
export function ddlOf(table: Table): string[] {
  const { name, columns, primaryKeys, foreignKeys, indexes } = configOf(table);
  const parts = [
    ...columns.map(columnDdl),
    ...primaryKeys.map((key) => `primary key (${key.columns.map((column) => column.name).join(", ")})`),
    ...foreignKeys.map((key) => {
      const { columns: from, foreignTable, foreignColumns } = key.reference();
      const to = `${configOf(foreignTable).name} (${foreignColumns.map((column) => column.name).join(", ")})`;
      return `foreign key (${from.map((column) => column.name).join(", ")}) references ${to} on delete ${key.onDelete}`;
    }),
  ];
  return [
    `create table ${name} (${parts.join(", ")})`,
    ...indexes.map((each) => indexDdl(name, each.config)),
  ];
}

function columnDdl(column: Column): string {
  const parts = [column.name, column.getSQLType()];
  if (column.primary) parts.push("primary key");
  if (column.notNull) parts.push("not null");
  if (column.hasDefault) parts.push(`default ${literal(column.default)}`);
  return parts.join(" ");
}

function literal(value: unknown): string {
  if (typeof value === "number") return String(value);
  return `'${typeof value === "string" ? value : JSON.stringify(value)}'`;
}

interface Indexed {
  readonly name?: string;
  readonly indexConfig?: { readonly order?: string; readonly nulls?: string };
}

function indexDdl(
  table: string,
  config: { name?: string; columns: unknown[]; where?: SQL | undefined },
): string {
  const columns = config.columns.map((column) => {
    if (is(column, SQL)) return text(column);
    const { name, indexConfig: { order, nulls } = {} } = column as Indexed;
    return order === "desc" ? `${name} desc nulls ${nulls}` : name;
  });
  const where = config.where === undefined ? "" : ` where ${text(config.where)}`;
  return `create index ${config.name} on ${table} (${columns.join(", ")})${where}`;
}

/** Without a value or a column in it, it is the same text in every dialect. */
function text(sql: SQL): string {
  return new SQLiteSyncDialect().sqlToQuery(sql).sql;
}
