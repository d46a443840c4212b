// How the driver of node-pg classifies errors of the server and of the connection.

import { describe, expect, it } from "vitest";
import { pg } from "../../../src/drivers/pg.ts";
import { classifySqlState } from "../../../src/drivers/postgres/sqlstate.ts";
import { failure, failureClass, pgFixture, sql } from "../../../testing/pg-fixture.ts";
import { untilOneWaitsForALock } from "../../../testing/postgres-activity.ts";
import { until } from "../../../testing/until.ts";

const db = pgFixture("create table item (id int primary key, n int); insert into item values (1, 0), (2, 0)");
const alive = sql("select 1 as one");
const sleep = sql("select pg_sleep(60)");

describe("an error of the server", () => {
  it.each([
    ["conflict", "insert into item values (1)"],
    ["missing-schema", "select * from nowhere"],
    ["missing-schema", "select nothing from item"],
    ["missing-schema", "create table nowhere.item (id int)"],
    ["rejected", "selekt 1"],
    ["invalid-value", "select 1/0"],
    ["invalid-value", "select '{'::jsonb"],
    ["invalid-value", "select repeat('x', 2000000000)"],
    ["rejected", "select 1; select 2"],
  ])("is %s: %s", async (expected, text) => {
    const pool = db.pool({ max: 1 });
    const executor = pg(pool);
    const error = await failure(executor.run(sql(text)));
    expect(executor.classify(error)).toBe(expected);
    expect(executor.classify(new Error("wrapped", { cause: error }))).toBe(expected);
    const first = await executor.run(sql("select pg_backend_pid() as pid"));
    await failure(executor.run(sql(text)));
    expect(await executor.run(sql("select pg_backend_pid() as pid"))).toEqual(first); // the connection was kept
  });

  it("is busy when a lock, a timeout or another transaction was in the way", async () => {
    const holder = await db.client();
    await holder.query("begin; update item set n = n + 1 where id = 1");
    const hurried = pg(db.pool({ lock_timeout: 20 }));
    expect(await failureClass(hurried, hurried.run(sql("update item set n = 9 where id = 1")))).toBe("busy");
    const timed = pg(db.pool({ statement_timeout: 20 }));
    expect(await failureClass(timed, timed.run(sleep))).toBe("busy");

    const strict = pg(db.pool({ options: "-c default_transaction_isolation=repeatable\\ read" }));
    const stale = failureClass(strict, strict.run(sql("update item set n = n + 1 where id = 1")));
    await untilOneWaitsForALock(db.admin);
    await holder.query("commit");
    expect(await stale).toBe("busy");
  });

  it.each([
    ["40P01", "busy"],
    ["40003", "unknown"],
    ["57P02", "unknown"],
    ["57P03", "unavailable"],
    ["08006", "unknown"],
    ["53200", "busy"],
    ["22021", "invalid-value"],
    ["54000", "invalid-value"],
    ["54023", "rejected"],
    ["42501", "rejected"],
    ["23514", "conflict"],
    ["25006", "unavailable"],
    ["25P03", "unavailable"],
    ["25P04", "busy"],
    ["28P01", "denied"],
    ["28000", "denied"],
    ["3D000", "denied"],
    ["53100", "busy"],
    ["53300", "unavailable"],
    ["57014", "busy"],
    ["57P01", "unknown"],
    ["57P04", "unknown"],
    ["57P05", "unavailable"],
    ["58030", "unknown"],
    ["XX000", "unknown"],
  ])("has a class for %s: %s", (code, expected) => {
    expect(classifySqlState(code)).toBe(expected);
  });
});

describe("a lost connection", () => {
  it("leaves the outcome unknown if a statement was running, and the pool stays usable", async () => {
    const pool = db.pool({ max: 1 });
    const executor = pg(pool);
    await executor.run(alive);
    for (const lose of [() => db.killWhileRunning(sleep.sql), async () => db.proxy.cut()]) {
      const lost = failureClass(executor, executor.batch([alive, sleep]));
      const running =
        "select 1 from pg_stat_activity where datname = current_database() and state = 'active' and query = $1";
      await until(async () => (await db.admin.query(running, [sleep.sql])).rowCount === 1);
      await lose();
      expect(await lost).toBe("unknown");
      expect(await executor.run(alive)).toEqual([{ one: "1" }]);
    }
  });

  it("leaves the outcome unknown when node-pg's own timeout gives up, and drops that connection", async () => {
    const pool = db.pool({ max: 1, query_timeout: 50 });
    const executor = pg(pool);
    expect(await failureClass(executor, executor.run(sleep))).toBe("unknown");
    expect(await executor.run(alive)).toEqual([{ one: "1" }]);
    await db.killWhileRunning(sleep.sql);
  });

  it("does not end the process while idle, on a pool or a client without a listener", async () => {
    const pool = db.pool({ max: 1 });
    const client = await db.client();
    const executors = [pg(pool), pg(client)];
    const pids = [];
    for (const executor of executors) {
      pids.push((await executor.run(sql("select pg_backend_pid() as pid")))[0]!.pid);
    }
    const ended = new Promise((resolve) => client.once("end", resolve));
    for (const pid of pids) await db.admin.query("select pg_terminate_backend($1)", [pid]);
    await ended;
    await until(() => pool.totalCount === 0);
    expect(await executors[0]!.run(alive)).toEqual([{ one: "1" }]);
    expect(await failureClass(executors[1]!, executors[1]!.run(alive))).toBe("unusable");
  });
});

describe("a server that cannot be reached", () => {
  const classOf = async (url: string) => {
    const executor = pg(db.pool({ connectionString: url, connectionTimeoutMillis: 5_000 }));
    return failureClass(executor, executor.run(alive));
  };

  it("is unavailable: nothing was sent", async () => {
    expect(await classOf("postgres://postgres:password@127.0.0.1:1/postgres")).toBe("unavailable");
    expect(await classOf("postgres://postgres:password@nowhere.invalid/postgres")).toBe("unavailable");
    await db.admin.query("create role crowded login password 'password' connection limit 0");
    expect(await classOf(db.url.replace("postgres:password", "crowded:password"))).toBe("unavailable");
    await db.admin.query("drop role crowded");
  });

  it("is denied if the password or the database is wrong", async () => {
    expect(await classOf(db.url.replace("password", "wrong"))).toBe("denied");
    expect(await classOf(`${db.url}_not`)).toBe("denied");
  });

  it("is unavailable when the pool's own wait for a connection ends", async () => {
    const pool = db.pool({ max: 1, connectionTimeoutMillis: 1000 });
    const executor = pg(pool);
    const client = await pool.connect();
    expect(await failureClass(executor, executor.run(alive))).toBe("unavailable");
    client.release();
  });

  it("is unusable with a pool or a client that was ended", async () => {
    const pool = db.pool();
    const client = await db.client();
    for (const ended of [pool, client]) {
      const executor = pg(ended);
      await executor.run(alive);
      await ended.end();
      expect(await failureClass(executor, executor.run(alive))).toBe("unusable");
    }
  });
});
