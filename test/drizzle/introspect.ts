import type { Executor, Row } from "../../src/core/executor.ts";

/** Columns, types, nullability, defaults, keys and indexes of every table, by table. */
export type Description = Record<string, Record<string, unknown>>;

/** What the database itself says of its tables. */
export function introspect(executor: Executor): Promise<Description> {
  return executor.dialect === "sqlite" ? introspectSqlite(executor) : introspectPostgres(executor);
}

async function introspectSqlite(executor: Executor): Promise<Description> {
  const rows = (sql: string) => executor.run({ sql, params: [] });
  const tables = await rows(
    "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name",
  );
  const described: Description = {};
  for (const { name } of tables) {
    const columns = await rows(
      `select name, lower(type) as type, "notnull", dflt_value, pk from pragma_table_info('${name}')`,
    );
    const references = await rows(
      `select "from", "table", "to", on_delete from pragma_foreign_key_list('${name}')`,
    );
    const indexes = await rows(
      `select l.name, l."unique", s.sql,
        (select group_concat(x.name || case x."desc" when 1 then ' desc' else '' end, ', ')
          from pragma_index_xinfo(l.name) x where x.key) as columns
      from pragma_index_list('${name}') l join sqlite_schema s on s.name = l.name where l.origin = 'c'`,
    );
    described[String(name)] = {
      ...byName("column", columns),
      ...Object.fromEntries(references.map((row) => [`reference ${row.from}`, row])),
      ...byName("index", indexes.map(withCondition)),
    };
  }
  return described;
}

/** No pragma returns the condition of an index. */
function withCondition({ sql, ...row }: Row): Row {
  const condition = /\bwhere\b(.*)$/is.exec(String(sql))?.[1];
  return { ...row, where: condition?.trim().replaceAll(/\s+/g, " ") ?? null };
}

async function introspectPostgres(executor: Executor): Promise<Description> {
  const rows = (sql: string) => executor.run({ sql, params: [] });
  const columns = await rows(
    `select table_name as "table", column_name as name, data_type, udt_name, is_nullable, column_default
    from information_schema.columns where table_schema = current_schema()`,
  );
  const keys = await rows(
    `select conrelid::regclass::text as "table", contype::text as name, pg_get_constraintdef(oid) as definition
    from pg_constraint where connamespace = current_schema()::regnamespace and contype in ('p', 'f', 'u')`,
  );
  const indexes = await rows(
    `select tablename as "table", indexname as name, indexdef from pg_indexes
    where schemaname = current_schema() and indexname not like '%_pkey'`,
  );
  const described: Description = {};
  for (const [what, list] of Object.entries({ column: columns, key: keys, index: indexes })) {
    for (const { table, ...row } of list) {
      described[String(table)] ??= {};
      Object.assign(described[String(table)]!, byName(what, [row]));
    }
  }
  return described;
}

function byName(what: string, rows: readonly Row[]): Record<string, Row> {
  return Object.fromEntries(rows.map((row) => [`${what} ${row.name}`, row]));
}
