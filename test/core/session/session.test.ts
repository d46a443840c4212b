// A request whose answer is lost is sent again, and does its work once.

import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import type { Executor } from "../../../src/core/executor.ts";
import { QueryMeter } from "../../../src/core/session/query-meter.ts";
import { betterSqlite3 } from "../../../src/drivers/better-sqlite3.ts";
import { Wadi, Worker } from "../../../src/index.ts";
import { internalsOf } from "../../../src/producer/internals.ts";
import { beforeRequests } from "../../../testing/before-requests.ts";
import { type Loss, lossy } from "../../../testing/lossy-executor.ts";
import { storeOf } from "../../../testing/store.ts";
import { until } from "../../../testing/until.ts";

const FAST = { baseMs: 1, capMs: 1 };

/** A client whose requests from now on meet these losses, one after the other. */
async function lossyWadi() {
  const losses: Loss[] = [];
  const executor = lossy(betterSqlite3(new Database(":memory:")), () => losses.shift() ?? null);
  const wadi = new Wadi(executor, { requestRetry: FAST });
  await wadi.migrate();
  await wadi.stats();
  return {
    wadi,
    executor,
    lose: (...next: Loss[]) => {
      losses.push(...next);
    },
  };
}

const lane = { queue: "default", name: "a", quota: 10 };

describe("an answer lost after the commit is asked for again without doing the work twice", () => {
  test("submit", async () => {
    const { wadi, lose } = await lossyWadi();
    lose("after", "after");
    const task = await wadi.submit("a", 1);
    expect(task.outcome).toBe("created");
    expect(await wadi.get(task.id)).toEqual({ ...task, outcome: undefined });
    expect(await wadi.list()).toHaveLength(1);
  });

  test.each(["reuse", "reuse-succeeded", "reject", "replace"] as const)(
    "keyed submit, %s",
    async (conflict) => {
      const { wadi, lose } = await lossyWadi();
      lose("after");
      expect(await wadi.submit("a", 1, { key: "k", conflict })).toMatchObject({
        outcome: "created",
        status: "queued",
      });
      expect(await wadi.list()).toHaveLength(1);
    },
  );

  test("a mixed submitMany", async () => {
    const { wadi, lose } = await lossyWadi();
    lose("after");
    const tasks = await wadi.submitMany("a", [{ payload: 1 }, { payload: 2, key: "k" }, { payload: 3 }]);
    expect(tasks.map(({ payload, outcome }) => [payload, outcome])).toEqual([
      [1, "created"],
      [2, "created"],
      [3, "created"],
    ]);
    for (const task of tasks) expect(await wadi.get(task.id)).toEqual({ ...task, outcome: undefined });
  });

  test("claim hands over what the first try took", async () => {
    const { wadi, lose } = await lossyWadi();
    await wadi.submitMany("a", [{ payload: 1 }, { payload: 2 }, { payload: 3 }]);
    lose("after");
    const { tasks } = await storeOf(wadi).claim({
      pools: [{ lanes: [lane], limit: 2 }],
      workerId: "w",
      leaseMs: 1000,
      limited: false,
    });
    expect(tasks.map((task) => task.payload)).toEqual([1, 2]);
    expect((await wadi.stats()).default).toMatchObject({ running: 2, queued: 1 });
  });

  test("settle reports what the first try did, outcome by outcome", async () => {
    const { wadi, lose } = await lossyWadi();
    await wadi.submitMany(
      "a",
      [1, 2, 3, 4, 5].map((payload) => ({ payload, maxAttempts: payload === 3 ? 1 : 3 })),
    );
    const { tasks } = await storeOf(wadi).claim({
      pools: [{ lanes: [lane], limit: 4 }],
      workerId: "w",
      leaseMs: 1000,
      limited: false,
    });
    const error = { type: "E", code: "e", message: "", retryable: true, details: null };
    const held = tasks.map((task) => ({ id: task.id, workerId: "w", attempt: task.attempt }));
    lose("after");
    const settled = await storeOf(wadi).settle([
      { ...held[0]!, outcome: "complete", resultJson: "7" },
      { ...held[1]!, outcome: "retry", error, delayMs: 0 },
      { ...held[2]!, outcome: "retry", error, delayMs: 0 },
      { ...held[3]!, outcome: "release", delayMs: 0 },
      { ...held[0]!, id: "task_unknown", outcome: "complete", resultJson: "7" },
    ]);
    expect(settled.map(({ status }) => status)).toEqual(["succeeded", "queued", "failed", "queued", null]);
  });

  test("another worker's settlement is not taken for one's own", async () => {
    const { wadi, lose } = await lossyWadi();
    const { id } = await wadi.submit("a", 1);
    await storeOf(wadi).claim({
      pools: [{ lanes: [lane], limit: 1 }],
      workerId: "other",
      leaseMs: 1000,
      limited: false,
    });
    await storeOf(wadi).settle([{ id, workerId: "other", attempt: 1, outcome: "complete", resultJson: "1" }]);
    lose("after");
    const [settled] = await storeOf(wadi).settle([
      { id, workerId: "mine", attempt: 1, outcome: "complete", resultJson: "2" },
    ]);
    expect(settled).toEqual({ id, status: null });
  });

  test("a drain in which every answer is lost once", async () => {
    const { wadi, executor, lose } = await lossyWadi();
    await wadi.submitMany(
      "a",
      Array.from({ length: 20 }, (_, i) => ({ payload: i })),
    );
    const runs: unknown[] = [];
    const worker = new Worker(wadi, { concurrency: 5 }).task("a", ({ payload }) => void runs.push(payload));
    executor.requests = 0;
    lose(...Array.from({ length: 30 }, (_, i): Loss => (i % 2 === 0 ? "after" : null)));
    expect(await worker.drain()).toMatchObject({ claimed: 20, succeeded: 20, lost: 0, more: false });
    expect(runs).toHaveLength(20);
    expect(executor.requests).toBeGreaterThanOrEqual(10);
  });
});

describe("when to try again", () => {
  test("a busy or unreachable database is asked again, six times in all", async () => {
    const { wadi, executor, lose } = await lossyWadi();
    lose("busy", "before", "busy", "before", "busy");
    executor.requests = 0;
    expect((await wadi.submit("a", 1)).outcome).toBe("created");
    expect(executor.requests).toBe(6);
  });

  test("then the error says what to do and is retryable, with the driver's error as its cause", async () => {
    const { wadi, lose } = await lossyWadi();
    lose(...Array.from({ length: 6 }, (): Loss => "before"));
    await expect(wadi.submit("a", { secret: "s3cret" })).rejects.toMatchObject({
      name: "DriverError",
      code: "DRIVER_ERROR",
      retryable: true,
      message: expect.stringMatching(
        /^submit failed on better-sqlite3: the database could not be reached or takes no writes now; check/,
      ),
      cause: expect.any(Error),
    });
    expect(await wadi.list()).toEqual([]);
  });

  test("not past the caller's deadline or after its signal", async () => {
    const { wadi, executor, lose } = await lossyWadi();
    lose("busy", "busy");
    executor.requests = 0;
    await expect(wadi.get("x", { deadlineMs: Date.now() })).rejects.toMatchObject({ name: "DriverError" });
    expect(executor.requests).toBe(1);
    await expect(wadi.get("x", { signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow("enough");
    expect(executor.requests).toBe(1);
  });

  test("a statement that the database refuses is not sent again", async () => {
    const { wadi, executor } = await lossyWadi();
    executor.requests = 0;
    const operation = { name: "wrong", statements: [{ sql: "selec 1", params: [] }], decode: () => null };
    await expect(internalsOf(wadi).session.execute(operation)).rejects.toMatchObject({
      name: "DriverError",
      retryable: false,
    });
    expect(executor.requests).toBe(1);
  });
});

describe("a request whose caller stopped waiting is aborted", () => {
  /** A client whose first request that `hangs` picks out is never answered, and the signals of such requests. */
  function hanging(hangs: (statements: number) => boolean) {
    const real = betterSqlite3(new Database(":memory:"));
    const signals: AbortSignal[] = [];
    const executor: Executor = {
      ...real,
      run: (statement) => real.run(statement),
      batch(statements, options) {
        if (signals.length > 0 || !hangs(statements.length)) return real.batch(statements, options);
        const signal = options!.signal!;
        signals.push(signal);
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      },
    };
    return { wadi: new Wadi(executor, { requestRetry: FAST }), signals };
  }

  test("the request of a call", async () => {
    const { wadi, signals } = hanging(() => true);
    await expect(wadi.submit("a", 1, { deadlineMs: Date.now() + 30 })).rejects.toMatchObject({
      kind: "unknown",
    });
    await until(() => signals[0]!.aborted);
    expect((await wadi.submit("a", 2)).outcome).toBe("created");
  });

  test("a migration, with the last call that waits for it", async () => {
    const { wadi, signals } = hanging((statements) => statements > 3);
    const hurried = wadi.stats(undefined, { deadlineMs: Date.now() + 30 });
    const patient = wadi.stats(undefined, { deadlineMs: Date.now() + 200 });
    await expect(hurried).rejects.toMatchObject({ kind: "unknown" });
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    await expect(patient).rejects.toMatchObject({ kind: "unknown" });
    await until(() => signals[0]!.aborted);
    expect((await wadi.submit("a", 2)).outcome).toBe("created");
  });
});

describe("a meter counts every statement that a call sends", () => {
  test("migrations, the guard, the call itself, and each time it is sent again", async () => {
    let sent = 0;
    const real = betterSqlite3(new Database(":memory:"));
    const losses: Loss[] = [];
    const counted = beforeRequests(real, (statements) => {
      sent += statements.length;
    });
    const wadi = new Wadi(
      lossy(counted, () => losses.shift() ?? null),
      { requestRetry: FAST },
    );
    const meter = new QueryMeter();
    await storeOf(wadi).get({ id: "none" }, { meter });
    expect(meter.sent).toBe(sent);
    expect(sent).toBeGreaterThan(10);
    losses.push("after");
    const before = sent;
    await storeOf(wadi).get({ id: "none" }, { meter });
    expect(sent - before).toBe(2);
    expect(meter.sent).toBe(sent);
  });
});
