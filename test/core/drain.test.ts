import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { defineTask, LostLease, type TaskContext, TaskError, Worker } from "../../src/core/index.ts";
import { ManualClock, memoryWadi } from "../support/memory.ts";

const ZERO = {
  claimed: 0,
  succeeded: 0,
  failed: 0,
  retried: 0,
  released: 0,
  canceled: 0,
  recovered: 0,
  lost: 0,
  roundTrips: 1,
  more: false,
  nextDueAtMs: null,
};

/** Resolves when the signal aborts, as a handler that watches it does. */
const untilAborted = ({ signal }: Pick<TaskContext, "signal">) =>
  new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

/** A handler that never comes back. */
const never = () => new Promise<never>(() => {});

describe("what a drain does", () => {
  test("an empty one is one round trip", async () => {
    const worker = new Worker(memoryWadi()).task("a", () => 1);
    expect(await worker.drain()).toEqual(ZERO);
  });

  test("N tasks that end at once cost N / concurrency round trips and one that finds nothing", async () => {
    const wadi = memoryWadi();
    await wadi.submitMany(
      "a",
      Array.from({ length: 64 }, (_, i) => ({ payload: i })),
    );
    const worker = new Worker(wadi, { concurrency: 16 }).task("a", ({ payload }) => (payload as number) * 2);
    expect(await worker.drain()).toEqual({ ...ZERO, claimed: 64, succeeded: 64, roundTrips: 5 });
    const tasks = await wadi.list({ limit: 100 });
    expect(tasks.map((task) => task.result)).toEqual(tasks.map((task) => (task.payload as number) * 2));
  });

  test("never runs more handlers at once than its concurrency", async () => {
    const wadi = memoryWadi();
    await wadi.submitMany(
      "a",
      Array.from({ length: 30 }, () => ({ payload: null })),
    );
    let running = 0;
    let most = 0;
    const worker = new Worker(wadi, { concurrency: 4 }).task("a", async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running--;
    });
    expect((await worker.drain()).succeeded).toBe(30);
    expect(most).toBe(4);
  });

  test("stops at maxTasks and says that there is more", async () => {
    const wadi = memoryWadi();
    await wadi.submitMany(
      "a",
      Array.from({ length: 5 }, () => ({ payload: null })),
    );
    const summary = await new Worker(wadi).task("a", () => 1).drain({ maxTasks: 3 });
    expect(summary).toMatchObject({ claimed: 3, succeeded: 3, more: true });
  });

  test("runs only names it has handlers for, in their queue", async () => {
    const wadi = memoryWadi();
    await wadi.submit("other", null);
    await wadi.submit("a", null, { queue: "elsewhere" });
    expect(await new Worker(wadi).task("a", () => 1).drain()).toEqual(ZERO);
    expect((await new Worker(wadi).task("a", () => 1, { queue: "elsewhere" }).drain()).succeeded).toBe(1);
  });

  test("takes tasks in the order of priority, due time and id", async () => {
    const wadi = memoryWadi();
    await wadi.submit("a", "third");
    await wadi.submit("a", "first", { priority: 9 });
    await wadi.submit("a", "second", { priority: 1 });
    const order: unknown[] = [];
    await new Worker(wadi, { concurrency: 1 }).task("a", ({ payload }) => void order.push(payload)).drain();
    expect(order).toEqual(["first", "second", "third"]);
  });

  test("says when the next task is due", async () => {
    const clock = new ManualClock();
    const wadi = memoryWadi({ clock: clock.read });
    await wadi.submit("a", null, { delayMs: 5000 });
    const worker = new Worker(wadi).task("a", () => 1);
    expect(await worker.drain()).toEqual({ ...ZERO, nextDueAtMs: clock.nowMs + 5000 });
    clock.advance(5000);
    expect(await worker.drain()).toMatchObject({ succeeded: 1 });
  });

  test("recovers the tasks of a killed invocation once their lease has run out", async () => {
    const clock = new ManualClock();
    const wadi = memoryWadi({ clock: clock.read });
    const { id } = await wadi.submit("a", null);
    const lane = { queue: "default", name: "a", quota: 1 };
    await wadi.store.claim({ lanes: [lane], workerId: "killed", leaseMs: 1000, limit: 1 });
    const worker = new Worker(wadi).task("a", ({ attempt }) => attempt);
    expect(await worker.drain()).toEqual({ ...ZERO, nextDueAtMs: clock.nowMs + 1000 });
    clock.advance(1000);
    expect(await worker.drain()).toMatchObject({ recovered: 1, succeeded: 1 });
    expect((await wadi.get(id))?.result).toBe(2);
  });
});

describe("how an attempt ends", () => {
  test("a thrown error is retried after a backoff in the upper half of its window", async () => {
    const clock = new ManualClock();
    const wadi = memoryWadi({ clock: clock.read });
    const { id } = await wadi.submit("a", null, { maxAttempts: 2 });
    const worker = new Worker(wadi, { backoff: { baseMs: 4000, capMs: 60_000 } }).task("a", () => {
      throw new RangeError("too far");
    });
    expect(await worker.drain()).toMatchObject({ retried: 1, more: false });
    const task = await wadi.get(id);
    expect(task).toMatchObject({ status: "queued", attempt: 1, workerId: null, leaseUntilMs: null });
    expect(task?.error).toEqual({
      type: "RangeError",
      code: "handler_error",
      message: "too far",
      retryable: true,
      details: null,
    });
    expect(task!.runAtMs - clock.nowMs).toBeGreaterThanOrEqual(2000);
    expect(task!.runAtMs - clock.nowMs).toBeLessThan(4000);
    clock.advance(4000);
    expect(await worker.drain()).toMatchObject({ failed: 1 });
    expect(await wadi.get(id)).toMatchObject({ status: "failed", attempt: 2 });
  });

  test("a TaskError has its own code, details and delay, and may be final", async () => {
    const clock = new ManualClock();
    const wadi = memoryWadi({ clock: clock.read });
    const first = await wadi.submit("later", null);
    const second = await wadi.submit("final", null);
    const worker = new Worker(wadi)
      .task("later", () => {
        throw new TaskError("busy", { code: "rate_limited", details: { until: 9 }, delayMs: 77 });
      })
      .task("final", () => {
        throw new TaskError("gone", { retryable: false });
      });
    expect(await worker.drain()).toMatchObject({ retried: 1, failed: 1 });
    expect(await wadi.get(first.id)).toMatchObject({
      runAtMs: clock.nowMs + 77,
      error: { code: "rate_limited", details: { until: 9 }, retryable: true },
    });
    expect((await wadi.get(second.id))?.error).toMatchObject({
      type: "TaskError",
      code: "task_error",
      retryable: false,
    });
  });

  test("a result that is not JSON fails the task for good", async () => {
    const wadi = memoryWadi();
    const { id } = await wadi.submit("a", null);
    expect(await new Worker(wadi).task("a", () => [1n]).drain()).toMatchObject({ failed: 1 });
    expect((await wadi.get(id))?.error).toMatchObject({ code: "unserializable_result", retryable: false });
  });

  test("no result is null, and a message with NUL does no harm", async () => {
    const wadi = memoryWadi();
    const none = await wadi.submit("none", null);
    const nul = await wadi.submit("nul", null, { maxAttempts: 1 });
    const worker = new Worker(wadi)
      .task("none", () => undefined)
      .task("nul", () => {
        throw new Error("a\0b");
      });
    await worker.drain();
    expect(await wadi.get(none.id)).toMatchObject({ status: "succeeded", result: null, progress: 1 });
    expect((await wadi.get(nul.id))?.error?.message).toBe("ab");
  });

  test("succeed and fail end it at once; what comes later is ignored", async () => {
    const wadi = memoryWadi();
    const early = await wadi.submit("early", null);
    const failed = await wadi.submit("failed", null);
    const worker = new Worker(wadi)
      .task("early", (context) => {
        context.succeed("early");
        throw new Error("late");
      })
      .task("failed", (context) => {
        context.fail(new TaskError("no", { retryable: false }));
        return "late";
      });
    expect(await worker.drain()).toMatchObject({ succeeded: 1, failed: 1 });
    expect((await wadi.get(early.id))?.result).toBe("early");
    expect((await wadi.get(failed.id))?.status).toBe("failed");
  });

  test("a handler that runs past maxRunMs is aborted and timed out, whether it listens or not", async () => {
    const wadi = memoryWadi();
    const ids = [await wadi.submit("listens", null), await wadi.submit("deaf", null)].map((task) => task.id);
    const worker = new Worker(wadi)
      .task("listens", untilAborted, { maxRunMs: 20 })
      .task("deaf", never, { maxRunMs: 20 });
    expect(await worker.drain({ budgetMs: 2000 })).toMatchObject({ retried: 2 });
    for (const id of ids) {
      expect((await wadi.get(id))?.error).toMatchObject({
        code: "handler_timeout",
        message: "the handler ran longer than its maxRunMs of 20 ms",
        retryable: true,
      });
    }
  });

  test("an invalid payload from elsewhere fails for good, a valid one arrives transformed", async () => {
    const wadi = memoryWadi();
    const payload = v.object({ n: v.pipe(v.string(), v.transform(Number)) });
    const task = defineTask({ name: "a", payload });
    const bad = await wadi.submit("a", { n: 5 });
    const good = await wadi.submit(task, { n: "5" });
    const worker = new Worker(wadi).task(task, (context) => context.payload.n + 1);
    expect(await worker.drain()).toMatchObject({ succeeded: 1, failed: 1 });
    expect((await wadi.get(good.id))?.result).toBe(6);
    expect((await wadi.get(bad.id))?.error).toMatchObject({
      code: "invalid_payload",
      retryable: false,
      message: expect.stringContaining("the payload of a is invalid: n: "),
    });
  });

  test("a result that its schema refuses fails for good", async () => {
    const wadi = memoryWadi();
    const task = defineTask({ name: "a", payload: v.null(), result: v.number() });
    const { id } = await wadi.submit(task, null);
    await new Worker(wadi).task(task, () => "five" as unknown as number).drain();
    expect((await wadi.get(id))?.error).toMatchObject({ code: "invalid_result", retryable: false });
  });
});

describe("the end of the time", () => {
  test("aborts handlers and gives their tasks back as timed out", async () => {
    const wadi = memoryWadi();
    const { id } = await wadi.submit("a", null);
    const started = Date.now();
    const summary = await new Worker(wadi).task("a", never).drain({ budgetMs: 300 });
    expect(Date.now() - started).toBeLessThan(1000);
    expect(summary).toMatchObject({ claimed: 1, retried: 1, more: false });
    expect(await wadi.get(id)).toMatchObject({
      status: "queued",
      attempt: 1,
      error: { code: "handler_timeout" },
    });
  });

  test("a signal stops a drain as its deadline would", async () => {
    const wadi = memoryWadi();
    await wadi.submit("a", null);
    const stop = new AbortController();
    const worker = new Worker(wadi).task("a", (context) => {
      stop.abort();
      return untilAborted(context);
    });
    expect(await worker.drain({ signal: stop.signal })).toMatchObject({ retried: 1 });
  });

  test("a task that was claimed too late to start is released without spending an attempt", async () => {
    const wadi = memoryWadi();
    const { id, runAtMs } = await wadi.submit("a", null);
    const stop = new AbortController();
    const { cycle } = wadi.store;
    wadi.store.cycle = async (...args) => {
      const cycled = await cycle.apply(wadi.store, args);
      stop.abort();
      return cycled;
    };
    const summary = await new Worker(wadi).task("a", never).drain({ signal: stop.signal });
    expect(summary).toMatchObject({ claimed: 1, released: 1, more: true });
    expect(await wadi.get(id)).toMatchObject({ status: "queued", attempt: 0, runAtMs, workerId: null });
  });

  test("a name is not claimed when its declared run does not fit what is left", async () => {
    const wadi = memoryWadi();
    await wadi.submit("long", null);
    await wadi.submit("short", null);
    const worker = new Worker(wadi).task("long", () => 1, { maxRunMs: 10_000 }).task("short", () => 1);
    const summary = await worker.drain({ budgetMs: 2000 });
    expect(summary).toMatchObject({ claimed: 1, succeeded: 1, more: true });
    expect((await worker.drain({ budgetMs: 20_000 })).succeeded).toBe(1);
  });

  test("a name is not claimed when its runs so far were longer than what is left", async () => {
    const wadi = memoryWadi();
    const worker = new Worker(wadi).task("a", () => new Promise((resolve) => setTimeout(resolve, 120)));
    await wadi.submit("a", null);
    expect((await worker.drain()).succeeded).toBe(1);
    await wadi.submit("a", null);
    expect(await worker.drain({ budgetMs: 100 })).toMatchObject({ claimed: 0, more: true });
  });
});

describe("leases", () => {
  test("a drain that is shorter than its lease sends no heartbeat", async () => {
    const wadi = memoryWadi();
    await wadi.submit("a", null);
    const worker = new Worker(wadi).task("a", () => new Promise((resolve) => setTimeout(resolve, 100)));
    expect(await worker.drain({ budgetMs: 5000 })).toMatchObject({ succeeded: 1, roundTrips: 2 });
  });

  test("a drain that is longer than its lease keeps it alive", async () => {
    const wadi = memoryWadi();
    await wadi.submit("a", null);
    const worker = new Worker(wadi, { leaseMs: 100 }).task("a", () => new Promise((r) => setTimeout(r, 350)));
    const summary = await worker.drain({ budgetMs: 5000 });
    expect(summary).toMatchObject({ succeeded: 1, lost: 0 });
    expect(summary.roundTrips).toBeGreaterThanOrEqual(5);
  });

  test("a heartbeat tells the handler of a requested cancel, and cancel wins", async () => {
    const wadi = memoryWadi();
    const { id } = await wadi.submit("a", null);
    let reason: unknown;
    const worker = new Worker(wadi).task("a", async (context) => {
      await wadi.cancel(id);
      expect(context.canceled).toBe(false);
      expect(await context.heartbeat()).toEqual({ canceled: true });
      reason = context.signal.reason;
      return "done all the same";
    });
    expect(await worker.drain()).toMatchObject({ canceled: 1, succeeded: 0 });
    expect(reason).toMatchObject({ name: "TaskCanceled" });
    expect(await wadi.get(id)).toMatchObject({ status: "canceled", result: null });
  });

  test("a frozen handler that lost its lease can write nothing, not even under the same worker", async () => {
    const clock = new ManualClock();
    const wadi = memoryWadi({ clock: clock.read });
    const { id } = await wadi.submit("a", null);
    const worker = new Worker(wadi);
    const seen: unknown[] = [];
    worker.task("a", async (context) => {
      if (context.attempt === 2) return "second";
      clock.advance(120_000);
      expect((await worker.drain()).succeeded).toBe(1);
      seen.push(await context.progress(0.5).catch((error: unknown) => error));
      seen.push(await context.submit("child", null).catch((error: unknown) => error));
      expect(context.signal.reason).toBeInstanceOf(LostLease);
      return "first";
    });
    expect(await worker.drain()).toMatchObject({ claimed: 1, lost: 1, succeeded: 0 });
    expect(seen).toEqual([expect.any(LostLease), expect.any(LostLease)]);
    expect(await wadi.get(id)).toMatchObject({
      status: "succeeded",
      result: "second",
      attempt: 2,
      progress: 1,
    });
    expect(await wadi.list({ name: "child" })).toEqual([]);
  });
});

test("progress and message are stored, and null leaves the other alone", async () => {
  const wadi = memoryWadi();
  const { id } = await wadi.submit("a", null, { maxAttempts: 1 });
  const worker = new Worker(wadi).task("a", async (context) => {
    await context.progress(0.25, "quarter");
    await context.progress(null, "still");
    expect(await wadi.get(id)).toMatchObject({ progress: 0.25, message: "still" });
    await context.progress(0.5);
    expect(await wadi.get(id)).toMatchObject({ progress: 0.5, message: "still" });
    await expect(context.progress(2)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
  expect((await worker.drain()).succeeded).toBe(1);
});

test("children know their parent, root and correlation id", async () => {
  const wadi = memoryWadi();
  const parent = await wadi.submit("parent", null, { correlationId: "order-7" });
  const worker = new Worker(wadi)
    .task("parent", (context) => context.submit("child", null).then(({ id }) => id))
    .task("child", (context) => context.submit("grandchild", null).then(({ id }) => id))
    .task("grandchild", () => null);
  await worker.drain();
  const family = await wadi.list({ rootId: parent.id });
  expect(family.map((task) => task.name)).toEqual(["grandchild", "child", "parent"]);
  expect(family[0]).toMatchObject({ parentId: family[1]?.id, rootId: parent.id, correlationId: "order-7" });
  expect(await wadi.list({ correlationId: "order-7", name: "child" })).toHaveLength(1);
});
