// The baseline of an empty SQLite database makes what the migrations make, and changes no other database.

import { describe, expect, test } from "vitest";
import { type MigrateOptions, migrate } from "../../../src/core/migrations/migrate.ts";
import type { Executor } from "../../../src/driver.ts";
import { Wadi } from "../../../src/index.ts";
import { sqlite } from "../../../src/protocol/sqlite.ts";
import { beforeRequests } from "../../../testing/before-requests.ts";
import { lossy } from "../../../testing/lossy-executor.ts";
import type { OpenTarget } from "../../../testing/target.ts";
import { pickTargets } from "../../../testing/targets.ts";

const read = async (executor: Executor, sql: string) => [...(await executor.run({ sql, params: [] }))];

/** Everything that the migrations leave, except when they ran. */
async function contents(executor: Executor) {
  const objects = await read(
    executor,
    `select type, name, tbl_name, sql from sqlite_master
      where sql is not null and (name like 'cairnq%' or name like 'wadi%') order by name`,
  );
  return {
    objects,
    meta: await read(executor, "select key, value from cairnq_meta order by key"),
    ledger: await read(executor, "select name from wadi_migrations order by name"),
    theirs: await read(executor, "select name from cairnq_migrations order by name"),
    undated: await read(
      executor,
      `select name from wadi_migrations where not applied_at_ms between 1.7e12 and 1e13
        union all select name from cairnq_migrations where not applied_at_ms between 1.7e12 and 1e13`,
    ),
  };
}

/** The executor as it was before there was a baseline. */
const withoutBaseline = (executor: Executor): Executor => ({
  ...executor,
  protocol: { ...sqlite, baseline: undefined },
});

/** How many batches of a migration contained the baseline, and how many did not. */
function watched(inner: Executor, onBaseline = () => {}) {
  const sent = { baseline: 0, migrations: 0 };
  const executor = beforeRequests(inner, (statements) => {
    if (statements.length === 1) return;
    const isBaseline = statements.some(({ sql }) => sql === sqlite.baseline![0]);
    sent[isBaseline ? "baseline" : "migrations"]++;
    if (isBaseline) onBaseline();
  });
  return { executor, sent };
}

const SQLITE = pickTargets(["better-sqlite3-file", "libsql-http", "d1", "durable-object"]);

describe.each(SQLITE)("$name", (target) => {
  async function opened(work: (open: OpenTarget) => Promise<void>): Promise<void> {
    const open = await target.open();
    try {
      await work(open);
    } finally {
      await open.close();
    }
  }

  async function byMigrations(options?: MigrateOptions) {
    let made: Awaited<ReturnType<typeof contents>> | undefined;
    await opened(async ({ executor }) => {
      await migrate(withoutBaseline(executor), options);
      made = await contents(executor);
    });
    return made!;
  }

  test.each([undefined, { mixedFleet: true }])("it makes the database of the migrations, %j", (options) =>
    opened(async (open) => {
      const { executor, sent } = watched(open.executor);
      await migrate(executor, options);
      expect(sent).toEqual({ baseline: 1, migrations: 0 });
      const made = await contents(open.executor);
      expect(made).toEqual(await byMigrations(options));
      expect(made.undated).toEqual([]);
      await migrate(executor, options);
      expect(sent).toEqual({ baseline: 1, migrations: 0 });
    }),
  );

  test("after a lost response the ledger says that it was applied", () =>
    opened(async (open) => {
      // The ledger, the version, then the batch.
      const executor = lossy(open.executor, (request) => (request === 3 ? "after" : null));
      await migrate(executor);
      expect(executor.requests).toBe(4);
      expect(await contents(open.executor)).toEqual(await byMigrations());
    }));

  test.each(["cairnq_tasks", "wadi_pauses"])("if %s exists, it fails and the migrations take over", (table) =>
    opened(async (open) => {
      const statements = sqlite.migrations.flatMap((migration) => migration.statements);
      await read(open.executor, statements.find((sql) => sql.includes(`exists ${table} (`))!);
      const { executor, sent } = watched(open.executor);
      await migrate(executor);
      expect(sent).toEqual({ baseline: 1, migrations: 1 });
      expect(await contents(open.executor)).toEqual(await byMigrations());
      expect(await new Wadi(open.executor).submit("a", 1)).toMatchObject({ name: "a" });
    }),
  );
});

describe.each(pickTargets(["better-sqlite3-file"]))("$name, with another SDK", (target) => {
  test("tables that it creates just before the baseline is sent are adopted", async () => {
    const open = await target.open();
    try {
      const other = await open.connect();
      const theirs: Promise<unknown>[] = [];
      const { executor, sent } = watched(open.executor, () => {
        theirs.push(
          read(other, "create table cairnq_meta (key text primary key, value text not null)"),
          read(other, "insert into cairnq_meta values ('protocol_version', '1'), ('schema_version', '3')"),
        );
      });
      await migrate(executor);
      await Promise.all(theirs);
      expect(sent.baseline).toBe(1);
      expect(sent.migrations).toBe(sqlite.migrations.length);
      const { meta, theirs: ledger } = await contents(open.executor);
      expect(meta).toContainEqual({ key: "schema_version", value: "3" });
      expect(ledger).toEqual([]);
      await other.close();
    } finally {
      await open.close();
    }
  });
});
