// Notifications of Postgres through node-pg.

import { describe, expect, it } from "vitest";
import { pg } from "../../../src/drivers/pg.ts";
import { failure, failureClass, pgFixture, sql } from "../../../testing/pg-fixture.ts";
import { endListeners } from "../../../testing/postgres-activity.ts";
import { until } from "../../../testing/until.ts";

const db = pgFixture("select 1");
const notify = (channel: string, payload: string) =>
  db.admin.query("select pg_notify($1, $2)", [channel, payload]);
const unexpected = () => expect.fail("no notification should arrive here");

describe("listen", () => {
  it("delivers notifications of its channels until it is stopped", async () => {
    const pool = db.pool({ max: 3 });
    const executor = pg(pool);
    const got: (string | null)[] = [];
    const stop = await executor.listen!(['we"ird', "b"], (...signal) => got.push(signal.join()), unexpected);
    await notify('we"ird', "1");
    await notify("other", "2");
    await executor.run(sql("select pg_notify('b', '3')"));
    await until(() => got.length === 2);
    expect(got).toEqual(['we"ird,1', "b,3"]);
    stop();
    stop();
    await until(() => pool.idleCount === 2);
    await notify("b", "4");
    expect(await executor.run(sql("select count(*) as n from pg_listening_channels()"))).toEqual([
      { n: "0" },
    ]);
    expect(got.length).toBe(2);
  });

  it("needs one connection for any number of listeners", async () => {
    const pool = db.pool({ max: 3 });
    const executor = pg(pool);
    const got: string[][] = [[], [], []];
    const stops = await Promise.all(
      [["a"], ["a", "b"], ["c"]].map((channels, i) =>
        executor.listen!(channels, (channel) => got[i]!.push(channel), unexpected),
      ),
    );
    for (const channel of ["a", "b", "c"]) await notify(channel, "");
    await until(() => got.flat().length === 4);
    stops[1]!();
    for (const channel of ["b", "a", "c"]) await notify(channel, "");
    await until(() => got.flat().length === 6);
    expect(got).toEqual([
      ["a", "a"],
      ["a", "b"],
      ["c", "c"],
    ]);
    expect(pool.totalCount - pool.idleCount).toBe(1);
    stops[0]!();
    stops[2]!();
    const again = await executor.listen!(["a"], (channel) => got[0]!.push(channel), unexpected);
    await notify("a", "");
    await until(() => got[0]!.length === 3);
    again();
    await until(() => pool.idleCount === pool.totalCount);
  });

  it("needs one connection for any number of executors of a pool, each of which closes its own part", async () => {
    const pool = db.pool({ max: 3 });
    const executors = Array.from({ length: 5 }, () => pg(pool));
    const got: number[] = [];
    for (const [i, executor] of executors.entries())
      await executor.listen!(["a"], () => got.push(i), unexpected);
    expect(pool.totalCount - pool.idleCount).toBe(1);
    for (const executor of executors.slice(1)) await executor.close();
    await notify("a", "");
    await until(() => got.length > 0);
    expect(got).toEqual([0]);
    await executors[0]!.close();
    await until(() => pool.idleCount === pool.totalCount);
    await pool.end();
  });

  it.each(["pool", "client"])(
    "notifies every listener when its connection is lost, on a %s",
    async (kind) => {
      const pool = db.pool({ max: 3 });
      const executor = kind === "pool" ? pg(pool) : pg(await db.client(), { listen: true });
      const closed: unknown[] = [];
      for (let i = 0; i < 2; i++)
        await executor.listen!(
          ["a"],
          () => {},
          (error) => closed.push(error),
        );
      await endListeners(db.admin);
      await until(() => closed.length === 2);
      expect(closed.map((error) => executor.classify(error))).toEqual(["unknown", "unknown"]);
      if (kind === "client") return;
      const got: (string | null)[] = [];
      const stop = await executor.listen!(["a"], (_, payload) => got.push(payload), unexpected);
      await notify("a", "back");
      await until(() => got.length === 1);
      stop();
    },
  );

  it("releases its connection on close, without a notification to the listeners", async () => {
    const pool = db.pool({ max: 3 });
    const executor = pg(pool);
    await executor.listen!(["a"], unexpected, unexpected);
    await until(() => pool.idleCount === pool.totalCount - 1);
    await executor.close();
    await until(() => pool.idleCount === pool.totalCount);
    expect(pool.ended).toBe(false);
  });

  it("fails like any other call if there is no server, and can be tried again", async () => {
    const pool = db.pool({ port: 1, connectionString: undefined, host: "127.0.0.1" });
    const executor = pg(pool);
    const attempt = () =>
      executor.listen!(
        ["a"],
        () => {},
        () => {},
      );
    expect(await failureClass(executor, attempt())).toBe("unavailable");
    expect((await failure(attempt())).code).toBe("ECONNREFUSED");
  });

  it("is absent where it would starve the pool, on a shared client, or when turned off", async () => {
    expect(pg(db.pool({ max: 2 })).listen).toBeUndefined();
    expect(pg(db.pool(), { listen: false }).listen).toBeUndefined();
    expect(pg(await db.client()).listen).toBeUndefined();
  });
});
