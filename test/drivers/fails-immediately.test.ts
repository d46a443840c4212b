// An executor whose client was closed fails without a wait.

import { createClient } from "@libsql/client";
import { neon } from "@neondatabase/serverless";
import Database from "better-sqlite3";
import { Client, Pool } from "pg";
import { describe, expect, it } from "vitest";
import type { Executor } from "../../src/driver.ts";
import { betterSqlite3 } from "../../src/drivers/better-sqlite3.ts";
import { libsql } from "../../src/drivers/libsql.ts";
import { neonHttp } from "../../src/drivers/neon.ts";
import { pg } from "../../src/drivers/pg.ts";
import { Unsupported, Wadi, Worker } from "../../src/index.ts";
import { createDatabase, postgresUrl } from "../../testing/postgres.ts";
import { until } from "../../testing/until.ts";

/** A second try would come too late for any test. */
const NO_SECOND_TRY = { requestRetry: { baseMs: 600_000, capMs: 600_000 } };

/** How a call fails that is made after a first one went through. */
async function afterwards(executor: Executor, end: () => unknown): Promise<unknown> {
  const wadi = new Wadi(executor, NO_SECOND_TRY);
  await wadi.submit("a", 1);
  await end();
  return wadi.submit("a", 2).catch((error) => error);
}

const UNUSABLE = { code: "DRIVER_ERROR", kind: "unusable", retryable: false };

describe("a client that was closed", () => {
  it("of better-sqlite3", async () => {
    const db = new Database(":memory:");
    expect(await afterwards(betterSqlite3(db), () => db.close())).toMatchObject(UNUSABLE);
  });

  it("of libSQL", async () => {
    const client = createClient({ url: ":memory:" });
    expect(await afterwards(libsql(client), () => client.close())).toMatchObject(UNUSABLE);
  });

  it.each(["pool", "client"])("of node-pg, a %s", async (kind) => {
    const client =
      kind === "pool"
        ? new Pool({ connectionString: await createDatabase() })
        : new Client(await createDatabase());
    if (client instanceof Client) await client.connect();
    const error = await afterwards(pg(client), () => client.end());
    expect(error).toMatchObject(UNUSABLE);
    expect(String(error)).toContain("the client cannot be used: it was closed");
  });
});

it("a Neon client without a connection string is refused with its first call", async () => {
  const missing = undefined as unknown as string; // an environment variable that is not set
  const wadi = new Wadi(neonHttp(neon(missing)), NO_SECOND_TRY);
  const error = await wadi.submit("a", 1).catch((reason) => reason);
  expect(error).toMatchObject(UNUSABLE);
  expect(String(error)).toContain("made without a database");
});

describe("a call inside the caller's open transaction", () => {
  it("of better-sqlite3 is refused, and says what to use", async () => {
    const db = new Database(":memory:");
    const wadi = new Wadi(betterSqlite3(db), NO_SECOND_TRY);
    const { id } = await wadi.submit("a", 0);
    db.exec("begin");
    const calls = [
      wadi.submit("a", 1),
      wadi.submit("a", 1, { key: "k" }),
      wadi.submitMany("a", [{ payload: 1 }]),
      wadi.call("a", 1),
      wadi.get(id),
      wadi.cancel(id),
      wadi.stats(),
      wadi.purge({ olderThanMs: 0 }),
    ];
    for (const outcome of await Promise.allSettled(calls)) {
      const { reason } = outcome as PromiseRejectedResult;
      expect(reason).toBeInstanceOf(Unsupported);
      expect(reason.message).toContain("wadi.with(db)");
    }
    wadi.with(db).submit("a", "inside");
    db.exec("commit");
    await wadi.submit("a", "after");
    expect((await wadi.list({ name: "a" })).map(({ payload }) => payload).sort()).toEqual([
      0,
      "after",
      "inside",
    ]);
  });

  it("of libSQL in memory is refused, and says what to use", async () => {
    const client = createClient({ url: ":memory:" });
    const wadi = new Wadi(libsql(client), NO_SECOND_TRY);
    await wadi.submit("a", 0);
    const tx = await client.transaction("write");
    const refused = await wadi.submit("a", 1).catch((error) => error);
    expect(refused).toBeInstanceOf(Unsupported);
    expect(refused.message).toContain("wadi.with(tx)");
    await wadi.with(tx).submit("a", "inside");
    await tx.commit();
    expect((await wadi.list({ name: "a" })).map(({ payload }) => payload).sort()).toEqual([0, "inside"]);
    client.close();
  });

  it("of better-sqlite3 makes a worker wait, because the worker did not begin it", async () => {
    const db = new Database(":memory:");
    const wadi = new Wadi(betterSqlite3(db));
    await wadi.submit("a", 1);
    const worker = new Worker(wadi).task("a", ({ payload }) => payload);
    db.exec("begin");
    const drained = worker.drain();
    await new Promise((resolve) => setTimeout(resolve, 100));
    db.exec("commit");
    expect(await drained).toMatchObject({ claimed: 1, succeeded: 1 });
  });

  it("of Postgres that has failed says so", async () => {
    const client = new Client(await createDatabase());
    await client.connect();
    const wadi = new Wadi(pg(client));
    await wadi.migrate();
    await client.query("begin");
    const tx = wadi.with(client);
    await client.query("select 1/0").catch(() => {});
    await until(() => client.getTransactionStatus() === "E"); // which comes after the error
    for (const work of [() => wadi.with(client), () => tx.submit("a", 1)]) {
      await expect((async () => work())()).rejects.toThrow(
        /^a statement of this transaction has failed; roll it back/,
      );
    }
    await client.query("rollback");
    await client.query("begin");
    await wadi.with(client).submit("a", 1);
    await client.query("commit");
    expect((await wadi.list({ name: "a" })).length).toBe(1);
    await client.end();
  });
});

it("a wrong password fails immediately, and one that worked before is retried", async () => {
  const url = new URL(await createDatabase());
  const admin = new Client(postgresUrl());
  await admin.connect();
  const role = `r${url.pathname.slice(1)}`;
  await admin.query(`create role ${role} login superuser password 'one'`);
  url.username = role;
  url.password = "wrong";
  const stranger = new Pool({ connectionString: url.href });
  const refused = await new Wadi(pg(stranger), NO_SECOND_TRY).submit("a", 1).catch((error) => error);
  expect(refused).toMatchObject({ code: "DRIVER_ERROR", kind: "denied", retryable: false });
  await stranger.end();

  url.password = "one";
  const pool = new Pool({ connectionString: url.href, maxUses: 1 }); // each call logs in
  const wadi = new Wadi(pg(pool, { listen: false }), { requestRetry: { tries: 1000, capMs: 50 } });
  await wadi.submit("a", 1);
  await admin.query(`alter role ${role} password 'two'`);
  const submitted = wadi.submit("a", 2);
  await new Promise((resolve) => setTimeout(resolve, 100));
  await admin.query(`alter role ${role} password 'one'`);
  expect((await submitted).outcome).toBe("created");
  await pool.end();
  await admin.query(`reassign owned by ${role} to postgres`).catch(() => {});
  await admin.end();
});
