// How an attempt ends, by result, error and time.

import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { defineTask, type TaskContext, TaskError, Worker } from "../../../src/index.ts";
import { ManualClock, memoryWadi } from "../../../testing/memory.ts";

/** Resolves when the signal aborts, as a handler that watches it does. */
const untilAborted = ({ signal }: Pick<TaskContext, "signal">) =>
  new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

/** A handler that never comes back. */
const never = () => new Promise<never>(() => {});

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
      details: { stack: expect.stringContaining("attempt.test.ts") },
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

  test("any thrown value ends the attempt at once and leaves the other attempts alone", async () => {
    const deep = JSON.parse(`${"[".repeat(1500)}${"]".repeat(1500)}`) as unknown;
    const message = Object.defineProperty(new Error(), "message", {
      get: () => {
        throw new Error();
      },
    });
    const delayMs = Object.defineProperty(new Error("x"), "delayMs", {
      get: () => {
        throw new Error();
      },
    });
    const thrown: [unknown, object][] = [
      [delayMs, { message: "x" }],
      [Object.assign(new Error("x"), { delayMs: 5n }), { message: "x" }],
      [undefined, { type: "undefined", message: "a non-Error value was thrown" }],
      [null, { type: "object" }],
      [message, { type: "Error", message: "" }],
      [Object.assign(new Error(), { message: { status: 500 } }), { message: "[object Object]" }],
      [Object.assign(new Error("x"), { name: 5n }), { type: "5" }],
      [Object.assign(new Error("x"), { name: "\ud800" }), { type: "\ufffd" }],
      [new TaskError("x", { code: "a\0b" }), { code: "ab" }],
      [new TaskError("x", { details: deep }), { code: "task_error", details: {} }],
    ];
    for (const [error, expected] of thrown) {
      const wadi = memoryWadi();
      const bad = await wadi.submit("bad", null);
      await wadi.submit("good", null);
      const worker = new Worker(wadi).task("good", () => 1).task("bad", () => Promise.reject(error));
      expect(await worker.drain({ maxTasks: 2 })).toMatchObject({ retried: 1, succeeded: 1, roundTrips: 2 });
      expect((await wadi.get(bad.id))?.error).toMatchObject(expected);
    }
  });

  test("a requested delay is rounded and kept in range, and one that is not a number is ignored", async () => {
    for (const [delayMs, min, max] of [
      [1.5, 2, 2],
      [-9, 0, 0],
      [1e300, 1e14, 1e14],
      [Number.NaN, 500, 1000],
      ["soon", 500, 1000],
    ] as [number, number, number][]) {
      const clock = new ManualClock();
      const wadi = memoryWadi({ clock: clock.read });
      const { id } = await wadi.submit("a", null);
      const worker = new Worker(wadi).task("a", () => Promise.reject(new TaskError("x", { delayMs })));
      await worker.drain({ maxTasks: 1 });
      const delay = (await wadi.get(id))!.runAtMs - clock.nowMs;
      expect(delay).toBeGreaterThanOrEqual(min);
      expect(delay).toBeLessThanOrEqual(max);
    }
  });

  test("succeed and fail end it immediately, and later calls are ignored", async () => {
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

  test("a handler that runs past maxRunMs is aborted and timed out, whether it watches its signal or not", async () => {
    const wadi = memoryWadi();
    const ids = [await wadi.submit("listens", null), await wadi.submit("deaf", null)].map((task) => task.id);
    const worker = new Worker(wadi)
      .task("listens", untilAborted, { maxRunMs: 20 })
      .task("deaf", never, { maxRunMs: 20 });
    expect(await worker.drain({ budgetMs: 2000, lingerMs: 0 })).toMatchObject({ retried: 2 });
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
      message: "the payload of a does not match its schema at n",
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

test("progress and message are stored, and null leaves the other alone", async () => {
  const wadi = memoryWadi();
  const { id } = await wadi.submit("a", null, { maxAttempts: 1 });
  const worker = new Worker(wadi).task("a", async (context) => {
    await context.progress(0.25, "quarter");
    await context.progress(null, "still");
    expect(await wadi.get(id)).toMatchObject({ progress: 0.25, message: "still" });
    await context.progress(0.5);
    expect(await wadi.get(id)).toMatchObject({ progress: 0.5, message: "still" });
    await expect(context.progress(1.01)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(context.progress(Number.NaN)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await context.progress(1);
    expect(await wadi.get(id)).toMatchObject({ progress: 1 });
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
