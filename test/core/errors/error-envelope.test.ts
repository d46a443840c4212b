// What is stored of an error that a handler threw.

import { runInNewContext } from "node:vm";
import { describe, expect, test, vi } from "vitest";
import { envelopeOf } from "../../../src/core/errors/error-envelope.ts";
import {
  type ErrorEnvelope,
  type Json,
  TaskError,
  Wadi,
  Worker,
  type WorkerEvent,
} from "../../../src/index.ts";
import { failureLine } from "../../../src/worker/logger.ts";
import { memoryWadi } from "../../../testing/memory.ts";
import { pickTargets } from "../../../testing/targets.ts";

const target = memoryWadi().executor;
const of = (error: unknown) => envelopeOf(error, target) as ErrorEnvelope & { details: Record<string, Json> };

describe("an error envelope keeps", () => {
  test("the class, message, code and stack, with paths as they are", () => {
    const error = Object.assign(new RangeError("too far"), { code: "ERR_RANGE" });
    expect(of(error)).toEqual({
      type: "RangeError",
      code: "handler_error",
      message: "too far",
      retryable: true,
      details: { code: "ERR_RANGE", stack: error.stack },
    });
    expect(of(error).details.stack).toContain("error-envelope.test.ts");
  });

  test("the chain of causes, whatever they are", () => {
    const socket = Object.assign(new Error("connect ECONNREFUSED"), {
      code: "ECONNREFUSED",
      cause: "a word",
    });
    const error = new TypeError("fetch failed", { cause: new Error("no answer", { cause: socket }) });
    expect(of(error).details).toMatchObject({
      cause: {
        name: "Error",
        message: "no answer",
        stack: expect.stringContaining("error-envelope.test.ts"),
        cause: { message: "connect ECONNREFUSED", code: "ECONNREFUSED", cause: "a word" },
      },
    });
  });

  test("the errors of an AggregateError", () => {
    const error = new AggregateError(
      [new RangeError("one"), "two", { message: "three", code: 3 }],
      "all failed",
    );
    expect(of(error)).toMatchObject({
      type: "AggregateError",
      message: "all failed",
      details: {
        errors: [
          { name: "RangeError", message: "one" },
          "two",
          { name: "Object", message: "three", code: 3 },
        ],
      },
    });
  });

  test("the same if it is of another realm, or a plain object with a message", () => {
    const foreign = runInNewContext(
      "Object.assign(new TypeError('elsewhere', { cause: new Error('why') }), { code: 'E_FOREIGN' })",
    );
    expect(foreign).not.toBeInstanceOf(Error);
    expect(of(foreign)).toMatchObject({
      type: "TypeError",
      message: "elsewhere",
      details: { code: "E_FOREIGN", stack: expect.any(String), cause: { message: "why" } },
    });
    expect(of({ name: "PaymentError", message: "declined", code: 402 })).toMatchObject({
      type: "PaymentError",
      message: "declined",
      details: { code: 402 },
    });
  });

  test("the fields of a TaskError, with its cause", () => {
    const cause = new Error("the disk is full");
    expect(of(new TaskError("later", { code: "disk", details: { free: 0 }, cause }))).toMatchObject({
      type: "TaskError",
      code: "disk",
      details: { free: 0, cause: { message: "the disk is full" } },
    });
    expect(of(new TaskError("no", { details: { free: 0, cause: "mine" }, cause })).details).toEqual({
      free: 0,
      cause: "mine",
    });
    expect(of(new TaskError("no")).details).toEqual({});
  });

  test("a thrown value that is no error", () => {
    expect(of("a word")).toMatchObject({ type: "string", message: "a word", details: {} });
    expect(of({ status: 500 })).toMatchObject({
      type: "object",
      message: "a non-Error value was thrown",
      details: { thrown: { status: 500 } },
    });
    expect(of(undefined)).toMatchObject({ type: "undefined", details: {} });
    expect(of(7n).details).toEqual({});
  });
});

describe("is bounded and never throws", () => {
  test("for long texts, long chains and many errors", () => {
    let chain = new Error("x".repeat(100_000));
    for (let depth = 0; depth < 100; depth++) {
      chain = new AggregateError(
        Array.from({ length: 100 }, () => new Error("y".repeat(100_000))),
        "z".repeat(100_000),
        { cause: chain },
      );
    }
    chain.stack = `${"s".repeat(1_000_000)}`;
    expect(JSON.stringify(of(chain)).length).toBeLessThan(40_000);
    const long = of(new Error("m".repeat(100_000)));
    expect(long.message).toHaveLength(4000);
    expect(long.details.stack).toContain("error-envelope.test.ts"); // the message left room for frames
    const details = { big: "b".repeat(100_000), list: Array(100_000).fill(1) };
    expect(of(new TaskError("x", { details })).details).toEqual({
      omitted: expect.stringMatching(/characters/),
    });
  });

  test("for cycles and hostile values", () => {
    const cyclic = new Error("round");
    cyclic.cause = cyclic;
    expect(of(cyclic).details).toEqual({ stack: cyclic.stack });
    const no = () => {
      throw new Error("no");
    };
    const hostile = Object.defineProperties(new Error("x"), {
      message: { get: no },
      name: { get: no },
      code: { get: no },
      stack: { get: no },
      cause: { get: no },
      errors: { get: no },
    });
    expect(of(hostile)).toMatchObject({ type: "Error", message: "", details: {} });
    const traps = { get: no, has: no, getPrototypeOf: no, ownKeys: no, getOwnPropertyDescriptor: no };
    expect(of(new Proxy(new Error("x"), traps))).toMatchObject({ code: "handler_error" });
    expect(of({ message: "m", toString: no, name: { toString: no } })).toMatchObject({
      message: "m",
      type: "",
    });
    expect(of(new AggregateError([new Proxy({}, traps)], "all"))).toMatchObject({ message: "all" });
    expect(of(Object.assign(new TaskError("t"), { details: { toJSON: no } }))).toMatchObject({ details: {} });
  });
});

describe.each(pickTargets(["better-sqlite3-memory", "neon-http", "pg"]))("on $name", (target) => {
  test("task, history and event have the same error, with texts that every database can hold", async () => {
    const { executor, close } = await target.open();
    const wadi = new Wadi(executor);
    const { id } = await wadi.submit("a", null, { maxAttempts: 2 });
    await wadi.submit("good", null);
    const reported: unknown[] = [];
    const onEvent = (event: WorkerEvent) => "error" in event && reported.push(event.error);
    const error = Object.assign(new Error("nul \0 and half \ud83c", { cause: new Error("half \udf4b") }), {
      code: "E\0",
    });
    const details = { "key\0": "text \0 \ud800", deep: [{ n: 1 }] };
    const worker = new Worker(wadi, { onEvent, backoff: { baseMs: 0 }, logger: null })
      .task("a", ({ attempt, fail }) => {
        if (attempt === 1) throw error;
        fail("no", { details: { text: details.deep, bad: "\0 \ud800" }, retryable: false });
      })
      .task("good", () => "good");
    await worker.drain();
    while (((await wadi.get(id))!.status as string) !== "failed") await worker.drain();
    const stored = (await wadi.failures(id)).map((failure) => failure.error);
    expect(stored).toEqual(reported);
    expect(stored[1]).toEqual((await wadi.get(id))!.error);
    expect(stored[0]).toMatchObject({
      message: "nul  and half \ufffd",
      details: { code: "E", cause: { message: "half \ufffd" } },
    });
    expect(stored[1]).toMatchObject({ details: { text: [{ n: 1 }], bad: " \ufffd" } });
    await close();
  });
});

describe("a final failure is logged", () => {
  async function failing(options: object) {
    const wadi = memoryWadi();
    const { id } = await wadi.submit("mail", { secret: "of the payload" }, { maxAttempts: 2 });
    const worker = new Worker(wadi, { backoff: { baseMs: 0 }, ...options }).task("mail", () => {
      throw new RangeError("too\n  far");
    });
    await worker.drain();
    while ((await wadi.get(id))!.status !== "failed") await worker.drain();
    return id;
  }

  test("by console.error, in one line without the payload", async () => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    const id = await failing({});
    const lines = logged.mock.calls;
    logged.mockRestore();
    expect(lines).toEqual([
      [`wadi: task ${id} (mail) failed for good on attempt 2 of 2: handler_error: RangeError: too far`],
    ]);
  });

  test("which names an attempt beyond the most as one after a retry by hand", () => {
    const line = failureLine(
      { id: "task_1", name: "mail", attempt: 3, maxAttempts: 2 },
      { type: "E", code: "c", message: "m", retryable: true, details: {} },
    );
    expect(line).toBe("task task_1 (mail) failed for good on attempt 3, after a retry by hand: c: E: m");
  });

  test("by a logger instead, whose own error harms nothing, or not at all", async () => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    const lines: string[] = [];
    await failing({ logger: { error: (line: string) => lines.push(line), warn: () => {} } });
    await failing({ logger: null });
    const error = () => {
      throw new Error("the log is full");
    };
    await failing({ logger: { error, warn: error } });
    expect(logged).not.toHaveBeenCalled();
    logged.mockRestore();
    expect(lines).toHaveLength(1);
    expect(() => new Worker(memoryWadi(), { logger: {} as never })).toThrow(/logger must be an object/);
  });
});
