// Waits during an outage of the database.

import { setTimeout as pause } from "node:timers/promises";
import pgClient from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ErrorClass, Executor } from "../../../src/core/executor.ts";
import { pg } from "../../../src/drivers/pg.ts";
import { TaskTimeout, Wadi, Worker } from "../../../src/index.ts";
import { memoryWadi } from "../../../testing/memory.ts";
import { type PostgresServer, startPostgres } from "../../../testing/postgres.ts";

class Away extends Error {}

/** A database that can be away; `refuses` makes it say no instead. */
function fragile() {
  const state = { isAway: false, kind: "unavailable" as ErrorClass, requests: 0 };
  const { executor: inner } = memoryWadi();
  async function reach<T>(send: () => Promise<T>): Promise<T> {
    state.requests++;
    if (state.isAway) throw new Away("no route to it");
    return send();
  }
  const executor: Executor = {
    ...inner,
    run: (statement) => reach(() => inner.run(statement)),
    batch: (statements, options) => reach(() => inner.batch(statements, options)),
    classify: (error) => (error instanceof Away ? state.kind : inner.classify(error)),
  };
  return { wadi: new Wadi(executor), state, inner };
}

/** Waits of every kind for the task `id` of the key `k`, and what each of them ends with. */
function waitsOf(wadi: Wadi, id: string, timeoutMs: number): Promise<unknown>[] {
  const options = { timeoutMs, pollMs: 20, maxPollMs: 50 };
  const watch = async () => {
    let last = "";
    for await (const { status } of wadi.watch(id, options)) last = status;
    return last;
  };
  return [
    wadi.wait(id, options).then(({ status }) => status),
    wadi.waitByKey("k", options).then(({ status }) => status),
    wadi.waitMany([id], options).then(([task]) => task!.status),
    wadi.waitManyByKey(["k"], options).then(([task]) => task!.status),
    watch(),
    wadi.call("a", 1, { key: "k", ...options }).then(() => "succeeded"),
  ];
}

const work = (wadi: Wadi) => new Worker(wadi).task("a", ({ payload }) => payload).drain();
const kinds = ["unavailable", "busy", "unknown"] as const;

describe.each(kinds)("while the database is %s", (kind) => {
  test("waits of every kind go on, and end when it is back", async () => {
    const { wadi, state, inner } = fragile();
    const { id } = await wadi.submit("a", 1, { key: "k" });
    state.kind = kind;
    const waits = waitsOf(wadi, id, 60_000);
    await pause(50);
    state.isAway = true;
    await pause(1900); // longer than the tries of one operation
    await work(new Wadi(inner));
    state.isAway = false;
    expect(await Promise.all(waits)).toEqual(Array(6).fill("succeeded"));
  });
});

test("an outage that lasts ends a wait at its own timeout, with the last error as the cause", async () => {
  const { wadi, state } = fragile();
  const { id } = await wadi.submit("a", 1, { key: "k" });
  const waits = waitsOf(wadi, id, 300);
  await pause(30);
  state.isAway = true;
  for (const outcome of await Promise.allSettled(waits)) {
    expect(outcome).toMatchObject({ status: "rejected" });
    const { reason } = outcome as PromiseRejectedResult;
    expect(reason).toBeInstanceOf(TaskTimeout);
    expect(reason).toMatchObject({
      retryable: true,
      message: expect.stringContaining("the database could not be read at the end"),
      cause: { name: "DriverError", cause: expect.any(Away) },
    });
  }
});

test("an outage is asked about with growing pauses", async () => {
  const { wadi, state } = fragile();
  const { id } = await wadi.submit("a", 1);
  state.isAway = true;
  state.requests = 0;
  await expect(wadi.wait(id, { timeoutMs: 3000, pollMs: 1, maxPollMs: 1 })).rejects.toThrow(TaskTimeout);
  expect(state.requests).toBeLessThan(30);
});

test("a refusal of the database ends every wait immediately", async () => {
  const { wadi, state } = fragile();
  const { id } = await wadi.submit("a", 1, { key: "k" });
  const waits = waitsOf(wadi, id, 60_000);
  await pause(30);
  state.kind = "rejected";
  state.isAway = true;
  for (const outcome of await Promise.allSettled(waits)) {
    expect(outcome).toMatchObject({ reason: { name: "DriverError", retryable: false } });
  }
});

describe("a Postgres that is restarted", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());

  test.each(["crash", "orderly"] as const)("ends no wait (%s)", async (how) => {
    const pool = new pgClient.Pool({ connectionString: await server.createDatabase() });
    pool.on("error", () => {});
    try {
      const wadi = new Wadi(pg(pool));
      const { id } = await wadi.submit("a", 1, { key: "k" });
      const waits = waitsOf(wadi, id, 60_000);
      await pause(300);
      await server.restart(how, 3000);
      const running = Promise.allSettled(waits);
      await expect
        .poll(() => work(wadi).catch(() => null), { timeout: 20_000 })
        .toMatchObject({ succeeded: 1 });
      expect(await running).toEqual(Array(6).fill({ status: "fulfilled", value: "succeeded" }));
      await wadi.close();
    } finally {
      await pool.end();
    }
  });
});
