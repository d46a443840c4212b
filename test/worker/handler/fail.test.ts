// Attempts that a handler fails by `context.fail`.

import { describe, expect, test } from "vitest";
import { type SettledTask, type TaskContext, TaskError, Wadi, Worker } from "../../../src/index.ts";
import { ManualClock, memoryWadi } from "../../../testing/memory.ts";
import { pickTargets } from "../../../testing/targets.ts";

const LATER = { backoff: { baseMs: 600_000, capMs: 600_000 } };

/** What a task that `fail` is called on with `args` has become. */
async function failedWith(...args: Parameters<TaskContext["fail"]>) {
  const clock = new ManualClock();
  const wadi = memoryWadi({ clock: clock.read });
  const { id } = await wadi.submit("a", null);
  await new Worker(wadi, LATER).task("a", ({ fail }) => fail(...args)).drain();
  const { status, error, runAtMs } = (await wadi.get(id))!;
  expect((await wadi.failures(id)).map((failure) => failure.error)).toEqual([error]);
  return { status, error, delayMs: runAtMs - clock.nowMs };
}

const READY = {
  type: "Declined",
  code: "declined",
  message: "no funds",
  retryable: false,
  details: { cents: 5 },
};

describe("fail takes", () => {
  test("a message", async () => {
    expect(await failedWith("no source records")).toMatchObject({
      status: "queued",
      error: {
        type: "TaskError",
        code: "task_error",
        message: "no source records",
        retryable: true,
        details: {},
      },
    });
  });

  test("a message with options", async () => {
    const options = { retryable: false, code: "no_records", details: { table: "pages" } };
    expect(await failedWith("no source records", options)).toMatchObject({
      status: "failed",
      error: { type: "TaskError", message: "no source records", ...options },
    });
    const { status, delayMs } = await failedWith("later", { delayMs: 77 });
    expect([status, delayMs]).toEqual(["queued", 77]);
  });

  test("an error, as if it had been thrown, and with options that go before what it says", async () => {
    expect(await failedWith(new RangeError("too far"))).toMatchObject({
      status: "queued",
      error: { type: "RangeError", code: "handler_error", message: "too far", retryable: true },
    });
    expect(
      await failedWith(new RangeError("too far"), { retryable: false, code: "range", details: { n: 1 } }),
    ).toMatchObject({
      status: "failed",
      error: { type: "RangeError", code: "range", details: { n: 1, stack: expect.any(String) } },
    });
  });

  test("a TaskError with its own code, details, delay and retryable", async () => {
    const gone = new TaskError("gone", { code: "gone", details: [1], retryable: false });
    expect(await failedWith(gone)).toMatchObject({
      status: "failed",
      error: { type: "TaskError", code: "gone", message: "gone", details: [1], retryable: false },
    });
    expect(await failedWith(new TaskError("busy", { delayMs: 9 }))).toMatchObject({
      status: "queued",
      delayMs: 9,
    });
    expect(await failedWith(gone, { retryable: true })).toMatchObject({ status: "queued" });
  });

  test("an envelope, all of it or a part", async () => {
    expect(await failedWith(READY)).toMatchObject({ status: "failed", error: READY });
    expect(await failedWith(READY, { retryable: true })).toMatchObject({
      status: "queued",
      error: { ...READY, retryable: true },
    });
    expect(await failedWith({ message: "only this" })).toMatchObject({
      status: "queued",
      error: {
        type: "TaskError",
        code: "task_error",
        message: "only this",
        retryable: true,
        details: {},
      },
    });
  });

  test.each<[args: Parameters<TaskContext["fail"]>, message: RegExp]>([
    [[undefined], /fail expects a message, an Error or an envelope .* got undefined/],
    [[null], /got null/],
    [[5], /got number/],
    [[{ status: 500 }], /got object/],
    [[{ message: "x", status: 500 }], /the envelope of fail .*status/],
    [[{ message: "x", retryable: "no" }], /retryable must be true or false, got string/],
    [["x", { retry: false } as never], /fail .*retry/],
    [["x", { retryable: 0 } as never], /^retryable must be true or false, got 0$/],
    [["x", { code: "" }], /code must be a non-empty string/],
    [["x", { delayMs: -1 }], /delayMs must be an integer/],
  ])("nothing else: %j", async (args, message) => {
    const wadi = memoryWadi();
    const { id } = await wadi.submit("a", null);
    const worker = new Worker(wadi, LATER).task("a", (context) => {
      expect(() => context.fail(...args)).toThrow(message);
      return "went on";
    });
    expect(await worker.drain()).toMatchObject({ succeeded: 1 });
    expect((await wadi.get(id))!.result).toBe("went on");
  });
});

describe.each(pickTargets(["better-sqlite3-memory", "libsql-http", "pg"]))("settled, on $name", (target) => {
  test("reports to a handler how its attempt was settled", async () => {
    const { executor, close } = await target.open();
    const wadi = new Wadi(executor);
    const seen: Record<string, SettledTask> = {};
    const worker = new Worker(wadi, LATER);
    const ends: Record<string, (context: TaskContext) => unknown> = {
      succeed: (context) => context.succeed({ pages: 3 }),
      fail: (context) => context.fail("no", { retryable: false }),
      retry: (context) => context.fail("not yet"),
      succeedWith: (context) => context.succeedWith([], "with"),
      canceled: async (context) => {
        await wadi.cancel(context.id);
        context.succeed(1);
      },
    };
    for (const [name, end] of Object.entries(ends)) {
      await wadi.submit(name, null);
      worker.task(name, async (context) => {
        await end(context);
        seen[name] = await context.settled;
      });
    }
    const { id } = await wadi.submit("batch", null);
    worker.task(
      "batch",
      async ([context]) => {
        context!.succeed("in a batch");
        seen.batch = await context!.settled;
      },
      { batch: 2 },
    );
    await worker.drain();
    expect(seen).toMatchObject({
      succeed: { status: "succeeded", result: { pages: 3 }, attempt: 1 },
      fail: { status: "failed", error: { message: "no" } },
      retry: { status: "queued", error: { message: "not yet" } },
      succeedWith: { status: "succeeded", result: "with" },
      canceled: { status: "canceled", result: null },
      batch: { id, status: "succeeded", result: "in a batch" },
    });
    await close();
  });
});

test("settled reports a lost lease, and costs nothing where no handler reads it", async () => {
  const clock = new ManualClock();
  const wadi = memoryWadi({ clock: clock.read });
  const { id } = await wadi.submit("a", null);
  const seen: unknown[] = [];
  const worker = new Worker(wadi).task("a", async (context) => {
    if (context.attempt > 1) return;
    clock.advance(60_001);
    await new Worker(wadi).task("b", () => 1).drain(); // recovers the lease
    context.succeed("too late");
    seen.push(await context.settled, await context.settled);
  });
  await worker.drain({ maxTasks: 1 });
  expect(seen).toEqual(Array(2).fill({ id, status: "lostLease" }));
});
