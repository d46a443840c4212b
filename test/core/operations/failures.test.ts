// The history of a task's failed attempts, and the limit of its crashes.

import Database from "better-sqlite3";
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from "vitest";
import type { Settlement } from "../../../src/core/operations/settle.ts";
import type { ErrorEnvelope, Task } from "../../../src/core/task.ts";
import { betterSqlite3 } from "../../../src/drivers/better-sqlite3.ts";
import { defineTask, Wadi, Worker } from "../../../src/index.ts";
import { type Loss, lossy } from "../../../testing/lossy-executor.ts";
import { ManualClock, memoryWadi } from "../../../testing/memory.ts";
import { storeOf } from "../../../testing/store.ts";
import type { OpenTarget } from "../../../testing/target.ts";
import { pickTargets } from "../../../testing/targets.ts";

const error: ErrorEnvelope = {
  type: "Error",
  code: "handler_error",
  message: "broken",
  retryable: true,
  details: null,
};

async function claim(wadi: Wadi, quota: number, workerId: string): Promise<Task[]> {
  const pools = [{ lanes: [{ queue: "default", name: "job", quota }], limit: quota }];
  return (await storeOf(wadi).claim({ pools, workerId, leaseMs: 1000, limited: false })).tasks;
}

const held = ({ id, workerId, attempt }: Task) => ({ id, workerId: workerId!, attempt });
const failed = (task: Task): Settlement => ({ ...held(task), outcome: "retry", error, delayMs: 0 });
const done = (task: Task, result = "1"): Settlement => ({
  ...held(task),
  outcome: "complete",
  resultJson: result,
});

describe.each(pickTargets(["better-sqlite3-memory", "d1", "pg"]))("on $name", (target) => {
  let open: OpenTarget;
  let wadi: Wadi;
  let loss: Loss = null;
  const clock = new ManualClock();

  beforeAll(async () => {
    open = await target.open();
    wadi = new Wadi(
      lossy(open.executor, () => loss),
      { clock: clock.read, requestRetry: { baseMs: 1, capMs: 1 } },
    );
    await wadi.migrate();
  });

  beforeEach(async () => {
    loss = null;
    await open.executor.run({ sql: "delete from cairnq_tasks", params: [] });
  });

  afterAll(() => open?.close());

  /** Loses the answer of the next request, after its commit. */
  function loseOne(): void {
    loss = "after";
    setTimeout(() => {
      loss = null;
    });
  }

  it("success sends and writes nothing more, and a failure is recorded in the same round trip", async () => {
    await wadi.submitMany("job", [{ payload: 1 }, { payload: 2 }]);
    const [good, bad] = await claim(wadi, 2, "w:1");
    const cost = async (settlement: Settlement) => {
      const before = open.meter();
      await storeOf(wadi).settle([settlement]);
      const after = open.meter();
      return {
        statements: after.statements - before.statements,
        roundTrips: after.roundTrips - before.roundTrips,
        rowsWritten: after.rowsWritten === null ? null : after.rowsWritten - before.rowsWritten!,
      };
    };
    const rowsWritten = (rows: number) => (target.name === "d1" ? rows : null);
    expect(await cost(done(good!))).toEqual({ statements: 1, roundTrips: 1, rowsWritten: rowsWritten(2) });
    expect(await wadi.failures(good!.id)).toEqual([]);
    const isSqlite = target.dialect === "sqlite";
    const statements = isSqlite ? 2 : 1;
    expect(await cost(failed(bad!))).toEqual({ statements, roundTrips: 1, rowsWritten: rowsWritten(3) });
    expect(await wadi.failures(bad!.id)).toEqual([
      { attempt: 1, kind: "error", error, workerId: "w:1", failedAtMs: clock.nowMs },
    ]);
  });

  it("a failure whose answer is lost is recorded once", async () => {
    const { id } = await wadi.submit("job", 1);
    const [task] = await claim(wadi, 1, "w:1");
    loseOne();
    expect(await storeOf(wadi).settle([failed(task!)])).toEqual([{ id, status: "queued" }]);
    expect(await storeOf(wadi).settle([failed(task!)])).toEqual([{ id, status: null }]);
    expect(await wadi.failures(id)).toHaveLength(1);
  });

  it("a crash whose recovery is sent twice is recorded and counted once", async () => {
    const { id } = await wadi.submit("job", 1);
    await claim(wadi, 1, "w:1");
    clock.advance(2500);
    loseOne();
    expect(await claim(wadi, 1, "w:2")).toMatchObject([{ id, crashes: 1, attempt: 2 }]);
    expect(await wadi.failures(id)).toEqual([
      {
        attempt: 1,
        kind: "crash",
        workerId: "w:1",
        failedAtMs: clock.nowMs,
        error: {
          type: "LeaseExpired",
          code: "lease_expired",
          message:
            "the lease of attempt 1 of 3 expired 1500 ms before it was noticed: " +
            "its worker was killed, froze or ran out of memory",
          retryable: true,
          details: { lease_until_ms: clock.nowMs - 1500 },
        },
      },
    ]);
  });

  it("two failures of one attempt number in one millisecond do not get in each other's way", async () => {
    const { id } = await wadi.submit("job", 1);
    for (const worker of ["w:1", "w:2"]) {
      const [task] = await claim(wadi, 1, worker);
      await storeOf(wadi).settle([{ ...held(task!), outcome: "fail", error }]);
      expect(await wadi.get(id)).toMatchObject({ status: "failed", attempt: 1 });
      await wadi.retry(id, { resetAttempt: true });
    }
    expect(await wadi.failures(id)).toHaveLength(1);
  });

  it("failures among results that fill several statements are all recorded", async () => {
    await wadi.submitMany("job", Array(9).fill({ payload: 1 }));
    const tasks = await claim(wadi, 9, "w:1");
    const large = `"${"x".repeat(wadi.executor.limits.maxParamBytes / 12)}"`;
    const settlements = tasks.map((task, i) => (i % 2 === 0 ? done(task, large) : failed(task)));
    const before = open.meter().statements;
    expect((await storeOf(wadi).settle(settlements)).map(({ status }) => status)).toEqual(
      tasks.map((_, i) => (i % 2 === 0 ? "succeeded" : "queued")),
    );
    expect(open.meter().statements - before).toBeGreaterThan(1);
    const recorded = await Promise.all(tasks.map(async ({ id }) => (await wadi.failures(id)).length));
    expect(recorded).toEqual([0, 1, 0, 1, 0, 1, 0, 1, 0]);
  }, 60_000);

  it("deleting a task deletes its history", async () => {
    const { id } = await wadi.submit("job", 1);
    const [task] = await claim(wadi, 1, "w:1");
    await storeOf(wadi).settle([failed(task!)]);
    expect(await wadi.failures(id)).toHaveLength(1);
    // As the purge of an SDK does that does not know the table.
    await open.executor.run({
      sql: "delete from cairnq_tasks where id in (select id from cairnq_tasks)",
      params: [],
    });
    expect(await wadi.failures(id)).toEqual([]);
  });
});

test("a connection without foreign keys keeps the history of what it deletes, and goes on", async () => {
  const db = new Database(":memory:");
  db.pragma("foreign_keys = off");
  const clock = new ManualClock();
  const wadi = new Wadi(betterSqlite3(db), { clock: clock.read });
  const { id } = await wadi.submit("job", 1);
  const [task] = await claim(wadi, 1, "w:1");
  await storeOf(wadi).settle([{ ...held(task!), outcome: "fail", error }]);
  clock.advance(1);
  expect(await wadi.purge({ olderThanMs: 0 })).toBe(1);
  expect(await wadi.get(id)).toBeNull();
  expect(await wadi.failures(id)).toHaveLength(1);
  expect(await new Worker(wadi).task("job", () => 1).drain()).toMatchObject({ claimed: 0 });
});

test("the definition says after how many crashes a task is still retried, and the submit overrides it", async () => {
  const wadi = memoryWadi();
  const task = defineTask({ name: "job", maxCrashes: 7 });
  expect(await wadi.submit(task, 1)).toMatchObject({ maxCrashes: 7, crashes: 0 });
  expect(await wadi.submit(task, 1, { maxCrashes: 1 })).toMatchObject({ maxCrashes: 1 });
  const [first, second] = await wadi.submitMany(task, [{ payload: 1 }, { payload: 2, maxCrashes: 2 }]);
  expect([await wadi.get(first!.id), await wadi.get(second!.id)]).toMatchObject([
    { maxCrashes: 7 },
    { maxCrashes: 2 },
  ]);
  expect(() => defineTask({ name: "job", maxCrashes: 0 })).toThrow(
    "maxCrashes must be an integer from 1 to 1000000, got 0",
  );
  await expect(wadi.submit("job", 1, { maxCrashes: 1.5 })).rejects.toThrow(/^maxCrashes must be an integer/);
});

test("the database's error for a refused statement is stored with the attempt", async () => {
  const wadi = memoryWadi();
  const { id } = await wadi.submit("a", null);
  await new Worker(wadi)
    .task("a", (ctx) => ctx.succeedWith([{ sql: "delete from nowhere", params: [] }], null))
    .drain();
  const [failure] = await wadi.failures(id);
  const details = { cause: { name: "SqliteError", message: "no such table: nowhere" } };
  expect(failure?.error).toMatchObject({ type: "DriverError", code: "handler_error", details });
});
