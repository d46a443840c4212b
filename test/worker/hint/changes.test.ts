// After each change that makes a task due sooner, the next drain with a hint asks the database.

import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { betterSqlite3 } from "../../../src/drivers/better-sqlite3.ts";
import { createHandler } from "../../../src/http/index.ts";
import { type Hint, hintInMemory, type SyncWadi, Wadi, Worker, wakeInProcess } from "../../../src/index.ts";
import { internalsOf } from "../../../src/producer/internals.ts";
import { signKick } from "../../../src/producer/wake/kick-token.ts";
import { interceptOperations } from "../../../testing/intercept.ts";
import { memoryWadi } from "../../../testing/memory.ts";
import { idle, MINUTE_MS, setup, until } from "./setup.ts";

const HOUR_MS = 60 * MINUTE_MS;

describe("changes that make tasks due sooner", () => {
  const changes: [what: string, before: (wadi: Wadi) => unknown, change: (wadi: Wadi) => unknown][] = [
    ["retry", failOne, async (wadi) => wadi.retry((await wadi.list({ name: "a" }))[0]!.id)],
    ["retryMany", failOne, (wadi) => wadi.retryMany({ name: "a" })],
    ["resume", pauseOne, (wadi) => wadi.resume({ queue: "default" })],
    ["submitMany", () => {}, (wadi) => wadi.submitMany("a", [{ payload: 1 }])],
    [
      "a stored schedule",
      () => {},
      (wadi) => wadi.schedules.set({ name: "s", everyMs: MINUTE_MS, task: "a" }),
    ],
    [
      "a schedule that is resumed",
      async (wadi) => {
        await wadi.schedules.set({ name: "s", everyMs: MINUTE_MS, task: "a" });
        await wadi.schedules.pause("s");
      },
      (wadi) => wadi.schedules.resume("s"),
    ],
    [
      "runNow",
      (wadi) => wadi.schedules.set({ name: "s", everyMs: 24 * HOUR_MS, task: "a" }),
      (wadi) => wadi.schedules.runNow("s"),
    ],
  ];

  test.each(changes)("%s", async (_, before, change) => {
    const { wadi, worker, tick } = setup();
    await before(wadi);
    let summary = await tick(worker());
    for (let i = 0; i < 3 && summary.roundTrips > 0; i++) summary = await tick(worker());
    expect(summary).toMatchObject(idle);
    await change(wadi);
    await tick(worker());
    let claimed = 0;
    for (let i = 0; i < 3; i++) claimed += (await wadi.list({ name: "a", status: "succeeded" })).length;
    if (claimed === 0) await tick(worker());
    expect(await wadi.list({ name: "a", status: "succeeded" })).toHaveLength(1);
  });

  async function failOne(wadi: Wadi) {
    await wadi.submit("a", null, { maxAttempts: 1 });
    const failing = new Worker(wadi, { logger: null }).task("a", () => {
      throw new Error("no");
    });
    expect(await failing.drain({ useHint: false })).toMatchObject({ failed: 1 });
  }

  async function pauseOne(wadi: Wadi) {
    await wadi.pause({ queue: "default" });
    await wadi.submit("a", null);
  }
});

test("a task that another worker's drain queues is found: by onFailed and by a schedule", async () => {
  const { wadi, worker, tick, clock } = setup();
  const schedules = [{ name: "s", everyMs: 10 * MINUTE_MS, task: "a", payload: null }];
  const other = new Worker(wadi, { logger: null }).task("b", () => {
    throw new Error("no");
  });
  await tick(worker());
  await wadi.submit("b", null, { maxAttempts: 1, onFailed: "a" });
  await tick(worker()); // sees the submit, which is not for it
  expect(await tick(worker())).toMatchObject(idle);
  expect(await tick(other)).toMatchObject({ failed: 1 });
  expect(await tick(worker())).toMatchObject({ succeeded: 1 });

  clock.advance(10 * MINUTE_MS - (clock.nowMs % (10 * MINUTE_MS)));
  await tick(worker());
  const scheduling = new Worker(wadi, { schedules }).task("b", () => null);
  await tick(scheduling);
  clock.advance(8 * MINUTE_MS);
  expect(await tick(worker())).toMatchObject(idle); // its hint is older than the schedule
  await tick(scheduling);
  expect(await tick(worker())).toMatchObject({ succeeded: 1 });
});

test("a submit in a transaction counts once it is kicked", async () => {
  const db = new Database(":memory:");
  const { wadi, worker, tick, hint } = setup(
    hintInMemory(),
    (options) => new Wadi(betterSqlite3(db), options),
  );
  await wadi.migrate();
  await tick(worker());
  const submitted = db.transaction(() => (wadi as SyncWadi).with(db).submit("a", null))();
  await settled();
  const before = await hint.get("changed"); // written before the commit: a drain may have seen it, and not the task
  await submitted.kick();
  await settled();
  expect(await hint.get("changed")).not.toBe(before);
  expect(await tick(worker())).toMatchObject({ succeeded: 1 });
});

test("a submit whose answer was lost counts: it may be committed", async () => {
  const { wadi, worker, tick } = setup();
  await tick(worker());
  const { session } = internalsOf(wadi);
  interceptOperations(wadi, "submit", async (send) => {
    await send();
    throw session.driverError("submit", "unknown", new Error("lost"));
  });
  await expect(wadi.submit("a", null)).rejects.toThrow("outcome is not known");
  expect(await tick(worker())).toMatchObject({ succeeded: 1 });
});

test("a drain that leaves due tasks writes nothing", async () => {
  const { wadi, worker, cells } = recorded();
  await wadi.submitMany("a", [{ payload: 1 }, { payload: 2 }]);
  await settled();
  expect(await worker().drain({ maxTasks: 1 })).toMatchObject({ more: true });
  expect(cells).toEqual(["changed"]);
  expect(await worker().drain()).toMatchObject({ succeeded: 1, more: false });
  expect(cells).toEqual(["changed", expect.stringMatching(/^drained:[0-9a-f]{16}$/)]);
});

test("with a wake the kick drains, and the next tick asks once more", async () => {
  const clients: { kicked?: Worker } = {};
  const wake = wakeInProcess(() => clients.kicked!);
  const { wadi, worker, tick } = setup(hintInMemory(), (options) => memoryWadi({ ...options, wake }));
  clients.kicked = worker();
  for (let i = 0; i < 2; i++) await tick(worker());
  await wadi.submit("a", null);
  await until(async () => (await wadi.list({ status: "succeeded" })).length === 1);
  await settled();
  expect(await tick(worker())).toMatchObject({ claimed: 0, roundTrips: 1 });
  expect(await tick(worker())).toMatchObject(idle);
});

test("the drain route uses the hint for a cron job, and drains for a kick", async () => {
  const { wadi, worker, clock } = setup();
  const handler = createHandler({ wadi, worker: worker(), secret: "s" });
  const post = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` };
    return (await handler(new Request("http://a/drain", { method: "POST", headers }))).json();
  };
  expect(await post("s")).toMatchObject({ roundTrips: 1 });
  expect(await post("s")).toMatchObject({ roundTrips: 0 });
  await new Wadi(wadi.executor, { clock: clock.read }).submit("a", null);
  expect(await post("s")).toMatchObject({ roundTrips: 0 });
  expect(await post(await signKick("s", "wadi", 0))).toMatchObject({ succeeded: 1 });
});

/** Clients whose hint lists the cells that are written. */
function recorded() {
  const cells: string[] = [];
  const store = hintInMemory();
  const set: Hint["set"] = (cell, text) => {
    cells.push(cell);
    return store.set(cell, text);
  };
  return { ...setup({ ...store, set }), cells };
}

/** Resolves once writes in the background have been made. */
function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

test("submits of one turn share a write, and those of a continuous worker need none", async () => {
  const { wadi, cells } = recorded();
  await Promise.all(Array.from({ length: 50 }, (_, i) => wadi.submit("a", i)));
  await settled();
  expect(cells).toEqual(["changed"]);
  await new Worker(wadi)
    .task("a", () => null)
    .background(async () => {
      await until(async () => (await wadi.list({ status: "succeeded" })).length === 50);
    });
  expect(cells).toEqual(["changed"]);
});
