// The tables for Drizzle are those that the migrations create.

import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from "vitest";
import type { Executor } from "../../src/core/executor.ts";
import { decodeTask } from "../../src/core/operations/decode-task.ts";
import * as postgresTables from "../../src/drizzle/postgres-tables.ts";
import * as sqliteTables from "../../src/drizzle/sqlite-tables.ts";
import { type Task, Wadi } from "../../src/index.ts";
import type { OpenTarget } from "../../testing/target.ts";
import { pickTargets } from "../../testing/targets.ts";
import { introspect } from "./introspect.ts";
import { configOf, ddlOf, tablesOf } from "./table-ddl.ts";

const DIALECTS = { "better-sqlite3-memory": sqliteTables, pg: postgresTables };

describe.each(Object.entries(DIALECTS))("the Drizzle tables on %s", (name, module) => {
  const tables = Object.values(tablesOf(module));
  const open: OpenTarget[] = [];
  let migrated: Executor;
  let created: Executor;

  beforeAll(async () => {
    for (const target of pickTargets([name, name])) open.push(await target.open());
    [migrated, created] = open.map(({ executor }) => executor) as [Executor, Executor];
    await new Wadi(migrated).migrate();
    // Those that others refer to come first.
    for (const sql of tables.flatMap(ddlOf)) await created.run({ sql, params: [] });
  });
  afterAll(() => Promise.all(open.map(({ close }) => close())));

  test("are those that the migrations create, column by column and index by index", async () => {
    const expected = await introspect(migrated);
    expect(Object.keys(expected)).toEqual(expect.arrayContaining(["cairnq_tasks", "wadi_failures"]));
    expect(await introspect(created)).toEqual(expected);
  });

  test("differ as soon as a migration adds a column, an index or a table", async () => {
    const changes = [
      "alter table cairnq_tasks add column extra text",
      "alter table wadi_limits add column extra integer not null default 0",
      "create index extra_idx on cairnq_task_keys (created_at_ms desc)",
      "create table wadi_extra (id text primary key)",
      "drop index wadi_tasks_root_idx",
    ];
    let before = await introspect(migrated);
    for (const sql of changes) {
      await migrated.run({ sql, params: [] });
      const after = await introspect(migrated);
      expect(after).not.toEqual(before);
      before = after;
    }
    expect(await introspect(created)).not.toEqual(before);
  });

  test("name each property as the column, in camel case", () => {
    const camel = (text: string) => text.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    for (const table of tables) {
      for (const [property, column] of Object.entries(columnsOf(table))) {
        expect(property).toBe(camel(column.name));
      }
      expect(Object.keys(columnsOf(table))).toHaveLength(configOf(table).columns.length);
    }
  });

  test("give a task the properties that `Task` has", () => {
    const own = Object.keys(decodeTask({}));
    expect(Object.keys(columnsOf(module.tasks))).toEqual(expect.arrayContaining(own));
  });
});

function columnsOf(table: object): Record<string, { name: string }> {
  const columns = Object.entries(table).filter(([, value]) => typeof value?.getSQLType === "function");
  return Object.fromEntries(columns);
}

test("the tables of a named schema are the same, in that schema", () => {
  const jobs = postgresTables.schema("jobs");
  expect(Object.keys(jobs).sort()).toEqual(Object.keys(tablesOf(postgresTables)).sort());
  for (const [name, table] of Object.entries(jobs)) {
    const { schema, ...config } = configOf(table) as { schema: string; name: string };
    expect([schema, config.name]).toEqual(["jobs", configOf(tablesOf(postgresTables)[name]!).name]);
    expect(ddlOf(table)).toEqual(ddlOf(tablesOf(postgresTables)[name]!));
  }
  const open = Object.values(postgresTables.schema("public"));
  expect(open.map((table) => (configOf(table) as { schema?: string }).schema)).toEqual(
    open.map(() => undefined),
  );
});

test("a row of tasks is a task to the compiler", () => {
  expectTypeOf<typeof sqliteTables.tasks.$inferSelect>().toExtend<Task>();
  expectTypeOf<typeof postgresTables.tasks.$inferSelect>().toExtend<Task>();
});
