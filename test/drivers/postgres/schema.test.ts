// Installations of Wadi in a schema of Postgres.

import { Client, Pool } from "pg";
import { afterAll, beforeEach, describe, expect, it, test } from "vitest";
import { migrationScript } from "../../../src/core/migrations/migration-script.ts";
import { pg } from "../../../src/drivers/pg.ts";
import { protocolIn } from "../../../src/drivers/postgres/schema.ts";
import { Wadi, Worker } from "../../../src/index.ts";
import { postgres } from "../../../src/protocol/postgres.ts";
import { createDatabase } from "../../../testing/postgres.ts";

const pools: Pool[] = [];
let url: string;

beforeEach(async () => {
  url = await createDatabase();
});

afterAll(() => Promise.all(pools.map((pool) => pool.end())));

function open(at: string = url): Pool {
  const pool = new Pool({ connectionString: at, max: 4 });
  pools.push(pool);
  return pool;
}

async function schemas(): Promise<string[]> {
  const { rows } = await open().query(
    "select schemaname from pg_tables where tablename = 'cairnq_tasks' order by 1",
  );
  return rows.map(({ schemaname }) => schemaname);
}

describe("schema", () => {
  it("holds a separate installation, and the search path stays as it is", async () => {
    const pool = open();
    const wadi = new Wadi(pg(pool, { schema: "jobs" }));
    const { id } = await wadi.submit("job", 1, { key: "k" });
    await new Worker(wadi).task("job", () => "done").drain();
    expect(await wadi.getByKey("k")).toMatchObject({ id, result: "done" });
    expect(await schemas()).toEqual(["jobs"]);
    expect((await pool.query("show search_path")).rows).toEqual([{ search_path: '"$user", public' }]);
  });

  it("keeps installations of one database apart", async () => {
    const pool = open();
    const [one, two] = ["one", "two"].map((schema) => new Wadi(pg(pool, { schema })));
    await one!.submit("job", 1, { key: "k" });
    await two!.migrate({ secondInstallation: true });
    const task = await two!.submit("job", 2, { key: "k" });
    expect(task.outcome).toBe("created");
    expect(await one!.list()).toHaveLength(1);
    expect(await new Worker(two!).task("job", () => 1).drain()).toMatchObject({ succeeded: 1, more: false });
    expect(await one!.getByKey("k")).toMatchObject({ status: "queued" });
  });

  it("has the triggers that wake a wait", async () => {
    const wadi = new Wadi(pg(open(), { schema: "jobs" }));
    const { id } = await wadi.submit("job", 1);
    const client = new Client(url);
    await client.connect();
    const received: string[] = [];
    client.on("notification", ({ channel, payload }) => received.push(`${channel} ${payload}`));
    await client.query("listen cairnq_queued; listen cairnq_done");
    await wadi.submit("job", 2, { queue: "mail" });
    await wadi.cancel(id);
    await client.query("select 1");
    await client.end();
    expect(received).toEqual(["cairnq_queued mail", `cairnq_done ${id}`]);
  });

  it("may exist before, for a role that may not create one", async () => {
    const owner = open();
    const role = `tenant_${Date.now()}`;
    await owner.query(`create role ${role} login password 'x'; create schema jobs authorization ${role}`);
    const own = new URL(url);
    own.username = role;
    own.password = "x";
    const wadi = new Wadi(pg(open(own.href), { schema: "jobs" }));
    expect(await wadi.submit("job", 1)).toMatchObject({ status: "queued" });
  });

  it("takes the tables of a reference SDK in it as they are", async () => {
    const pool = open();
    await pool.query("create schema jobs");
    const first = protocolIn("jobs").migrations[0]!;
    for (const sql of first.statements) await pool.query(sql);
    await pool.query(`insert into jobs.cairnq_tasks
      (id, name, status, payload, run_at_ms, root_id, created_at_ms, updated_at_ms)
      values ('task_old', 'job', 'queued', '1', 5, 'task_old', 5, 5)`);
    const wadi = new Wadi(pg(pool, { schema: "jobs" }));
    expect(await new Worker(wadi).task("job", () => 1).drain()).toMatchObject({ succeeded: 1 });
    expect(await schemas()).toEqual(["jobs"]);
  });

  it("of a newer protocol is refused", async () => {
    const pool = open();
    await new Wadi(pg(pool, { schema: "jobs" })).migrate();
    await pool.query("update jobs.cairnq_meta set value = '2' where key = 'protocol_version'");
    const refusal = { code: "PROTOCOL_VERSION_MISMATCH" };
    await expect(new Wadi(pg(pool, { schema: "jobs" })).submit("job", 1)).rejects.toMatchObject(refusal);
  });

  it("gets the same tables from the script", async () => {
    const byHand = open();
    await byHand.query(migrationScript(protocolIn('my "jobs"')));
    const rows = await byHand.query('select name from "my ""jobs""".wadi_migrations order by name');
    expect(rows.rows.map(({ name }) => name)).toEqual(postgres.migrations.map(({ name }) => name));
    expect(await new Wadi(pg(byHand, { schema: 'my "jobs"' })).submit("job", 1)).toMatchObject({
      outcome: "created",
    });
  });
});

describe("a client whose search path has another schema than that of the tables", () => {
  it("is refused with the schema of the tables, and nothing is written", async () => {
    const pool = open();
    await new Wadi(pg(pool, { schema: "jobs" })).migrate();
    const refusal = {
      name: "SchemaMismatch",
      code: "SCHEMA_MISMATCH",
      retryable: false,
      schemas: ["jobs"],
      message: expect.stringContaining(
        'the tables are in schema "jobs" of this database and not where the search path points',
      ),
    };
    await expect(new Wadi(pg(pool)).submit("job", 1)).rejects.toMatchObject(refusal);
    await expect(new Wadi(pg(pool)).migrate({ mixedFleet: true })).rejects.toMatchObject(refusal);
    await expect(new Wadi(pg(pool, { schema: "Jobs" })).get("task_x")).rejects.toMatchObject({
      ...refusal,
      message: expect.stringContaining('not in schema "Jobs"; pass that schema to the driver'),
    });
    expect(await schemas()).toEqual(["jobs"]);
  });

  it("may ask for a second set of tables, once", async () => {
    const pool = open();
    await new Wadi(pg(pool)).migrate();
    await new Wadi(pg(pool, { schema: "jobs" })).migrate({ secondInstallation: true });
    await new Wadi(pg(pool, { schema: "jobs" })).migrate();
    await new Wadi(pg(pool)).migrate();
    expect(await schemas()).toEqual(["jobs", "public"]);
    await expect(new Wadi(pg(pool, { schema: "more" })).migrate()).rejects.toMatchObject({
      schemas: ["jobs", "public"],
    });
  });

  it("is refused also if its search path would show the tables and create others", async () => {
    const pool = open();
    await pool.query('create schema "postgres"'); // $user, the first of the search path
    await pool.query("create table public.cairnq_tasks (id text primary key)");
    await expect(new Wadi(pg(pool)).migrate()).rejects.toMatchObject({ schemas: ["public"] });
  });
});

test.each([
  ["", "empty"],
  ["pg_jobs", "reserved"],
  ["a$$b", "a dollar"],
  ["a\0b", "NUL"],
  ["ö".repeat(32), "64 bytes"],
  [7 as never, "no text"],
])("a schema that is %j is refused: %s", (schema) => {
  expect(() => pg(open(), { schema })).toThrow(
    /^schema must be a name of 1 to 63 bytes .*, got (one of \d+ bytes|\w+)$/,
  );
});
