// Wadi and another SDK migrate an empty Postgres at the same time.

import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { pg as executorOf } from "../../../src/drivers/pg.ts";
import { Wadi } from "../../../src/index.ts";
import { createDatabase } from "../../../testing/postgres.ts";
import { createLedger, MIGRATIONS, migrateLikeReference } from "../../../testing/reference-migrator.ts";

const WADI_TRIGGERS = ["wadi_tasks_inserted", "wadi_tasks_status_changed"];
const REFERENCE_TRIGGERS = ["cairnq_tasks_notify"];

let pool: pg.Pool;

beforeEach(async () => {
  pool = new pg.Pool({ connectionString: await createDatabase(), max: 8 });
});

afterEach(() => pool.end());

const wadi = () => new Wadi(executorOf(pool));

async function column(sql: string): Promise<unknown[]> {
  const { rows } = await pool.query({ text: sql, rowMode: "array" });
  return rows.map(([value]) => value);
}

/** The triggers that notify; another one submits the task of onFailed. */
const triggers = () =>
  column(`select tgname::text from pg_trigger
    where tgrelid = 'cairnq_tasks'::regclass and not tgisinternal and tgname <> 'wadi_tasks_failed' order by tgname`);

/** The notifications of one task from its insert to its end. */
async function notifications(): Promise<string[]> {
  const client = await pool.connect();
  const events: string[] = [];
  client.on("notification", ({ channel, payload }) => events.push(`${channel} ${payload}`));
  for (const channel of ["cairnq_queued", "cairnq_done", "test_end"]) await client.query(`listen ${channel}`);
  await client.query(`insert into cairnq_tasks 
      (id, name, queue, status, payload, run_at_ms, created_at_ms, updated_at_ms)
    values ('task_x', 'a', 'q', 'queued', '{}', 1, 1, 1)`);
  for (const status of ["running", "queued", "running", "succeeded"])
    await client.query("update cairnq_tasks set status = $1 where id = 'task_x'", [status]);
  await client.query("notify test_end");
  await expect.poll(() => events.at(-1)).toContain("test_end");
  client.release(true);
  return events.slice(0, -1);
}

const ONE_FOR_EACH_EVENT = ["cairnq_queued q", "cairnq_queued q", "cairnq_done task_x"];

describe("a cold start of both kinds of SDK on an empty Postgres", () => {
  test.each(MIGRATIONS.map((_, done) => done))(
    "one set of triggers, if Wadi comes after %i of theirs",
    async (done) => {
      await createLedger(pool);
      await migrateLikeReference(pool, MIGRATIONS.slice(0, done));
      await wadi().migrate();
      await migrateLikeReference(pool);
      const isTheirs = done > MIGRATIONS.findIndex(({ name }) => name === "0003_notify.sql");
      expect(await triggers()).toEqual(isTheirs ? REFERENCE_TRIGGERS : WADI_TRIGGERS);
      expect(await notifications()).toEqual(ONE_FOR_EACH_EVENT);
    },
  );

  test("an installation that got both sets keeps the first", async () => {
    await createLedger(pool);
    await migrateLikeReference(pool, MIGRATIONS.slice(0, 2));
    await wadi().migrate();
    await pool.query("delete from cairnq_migrations where name = '0003_notify.sql'");
    await pool.query("delete from wadi_migrations where name = '0007_one_notify.sql'");
    await migrateLikeReference(pool);
    expect(await triggers()).toEqual([...REFERENCE_TRIGGERS, ...WADI_TRIGGERS]);
    await wadi().migrate();
    expect(await triggers()).toEqual(REFERENCE_TRIGGERS);
    expect(await notifications()).toEqual(ONE_FOR_EACH_EVENT);
  });

  test("Wadi waits for a migrator of theirs before it touches a table", async () => {
    await createLedger(pool);
    const theirs = await pool.connect();
    await theirs.query("begin");
    await theirs.query("lock table cairnq_migrations in exclusive mode");
    const migrated = wadi().migrate();
    const waiting =
      "select 1 from pg_locks where not granted " +
      "and database = (select oid from pg_database where datname = current_database())";
    await expect.poll(() => column(waiting)).toHaveLength(1);
    for (const { name, sql } of MIGRATIONS) {
      await theirs.query(sql);
      await theirs.query("insert into cairnq_migrations values ($1, 1)", [name]);
    }
    await theirs.query("commit");
    theirs.release();
    await migrated;
    const deadlocks = "select deadlocks::int from pg_stat_database where datname = current_database()";
    expect(await column(deadlocks)).toEqual([0]);
    expect(await triggers()).toEqual(REFERENCE_TRIGGERS);
  });

  test("the ledger that they lock is committed before the first migration begins", async () => {
    const sent: string[] = [];
    const executor = executorOf(pool);
    const { batch } = executor;
    const watched = {
      ...executor,
      batch: (...args: Parameters<typeof batch>) => {
        sent.push(args[0].map(({ sql }) => sql).join("; "));
        return batch(...args);
      },
    };
    await new Wadi(watched).migrate();
    expect(sent[0]).toMatch(/^create table if not exists cairnq_migrations [^;]*$/);
    for (const migration of sent.filter((sql) => sql.includes("insert into wadi_migrations")))
      expect(migration).toMatch(
        /^select pg_advisory_xact_lock[^;]*; lock table cairnq_migrations in exclusive mode;/,
      );
  });

  test("six that start together all succeed", async () => {
    const tasks = await Promise.all([
      ...[1, 2, 3].map(() => createLedger(pool).then(() => migrateLikeReference(pool))),
      ...[1, 2, 3].map((n) => wadi().submit("a", n)),
    ]);
    expect(tasks).toHaveLength(6);
    expect([WADI_TRIGGERS, REFERENCE_TRIGGERS]).toContainEqual(await triggers());
    expect(await notifications()).toEqual(ONE_FOR_EACH_EVENT);
  });
});
