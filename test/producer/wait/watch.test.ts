// Watches of a task's changes.

import { describe, expect, test, vi } from "vitest";
import { type TaskState, TaskTimeout, Wadi, Worker } from "../../../src/index.ts";
import { internalsOf } from "../../../src/producer/internals.ts";
import { interceptOperations } from "../../../testing/intercept.ts";
import { memoryWadi } from "../../../testing/memory.ts";
import { pickTargets } from "../../../testing/targets.ts";
import { UNTIL_NOTIFIED } from "../../../testing/until-notified.ts";

const FAST = { pollMs: 1, maxPollMs: 1 };

async function collect(changes: AsyncIterable<TaskState>): Promise<TaskState[]> {
  const seen: TaskState[] = [];
  for await (const change of changes) seen.push(change);
  return seen;
}

describe("watch", () => {
  test.each(pickTargets(["better-sqlite3-file", "libsql-http", "d1", "pg", "neon-http"]))(
    "reports every change until the task is done, on $name",
    async (target) => {
      const { executor, close } = await target.open();
      try {
        const wadi = new Wadi(executor);
        const { id } = await wadi.submit("a", null);
        const reported: TaskState[] = [];
        const watching = (async () => {
          for await (const change of wadi.watch(id, FAST)) reported.push(change);
        })();
        const seen = (progress: number | null) =>
          vi.waitUntil(() => reported.at(-1)?.progress === progress, 10_000);
        await vi.waitUntil(() => reported.length === 1, 10_000);
        await new Worker(wadi)
          .task("a", async ({ progress }) => {
            await progress(0.5, "half");
            await seen(0.5);
            await progress(0.75);
            await seen(0.75);
          })
          .drain();
        await watching;
        const steps = reported.filter(({ status, progress }) => status !== "running" || progress !== null);
        expect(steps).toEqual([
          { id, status: "queued", progress: null, message: null, attempt: 0 },
          { id, status: "running", progress: 0.5, message: "half", attempt: 1 },
          { id, status: "running", progress: 0.75, message: "half", attempt: 1 },
          { id, status: "succeeded", progress: 1, message: "half", attempt: 1 },
        ]);
      } finally {
        await close();
      }
    },
  );

  test("reports nothing twice, and a task that is already done once", async () => {
    const wadi = memoryWadi();
    const { id } = await wadi.submit("a", null);
    const changes = wadi.watch(id, FAST);
    expect((await changes.next()).value).toMatchObject({ id, status: "queued" });
    let polls = 0;
    interceptOperations(wadi, "getStatus", async (send) => {
      if (++polls === 5) await wadi.cancel(id);
      return send();
    });
    expect(await collect(changes)).toEqual([expect.objectContaining({ status: "canceled" })]);
    expect((await collect(wadi.watch(id))).map(({ status }) => status)).toEqual(["canceled"]);
  });

  test("is woken by a notification", async () => {
    const wadi = memoryWadi();
    const { id } = await wadi.submit("a", null);
    const changes = wadi.watch(id, UNTIL_NOTIFIED);
    await changes.next();
    const next = changes.next();
    await wadi.cancel(id);
    expect((await next).value).toMatchObject({ status: "canceled" });
    expect(await changes.next()).toEqual({ done: true, value: undefined });
  });

  test("ends with a TaskTimeout that holds the task as last seen", async () => {
    const wadi = memoryWadi();
    const task = await wadi.submit("a", null);
    const error = await collect(wadi.watch(task, { ...FAST, timeoutMs: 5 })).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(TaskTimeout);
    expect(error).toMatchObject({ id: task.id, task: { status: "queued" } });
    expect((error as Error).message).toMatch(/^waited 5 ms for task task_\w+: it was never claimed/);
    await expect(collect(wadi.watch("none", { timeoutMs: 0 }))).rejects.toThrow("there is no such task");
  });

  test("ends with the reason of its signal, also while no call waits for the next change", async () => {
    const wadi = memoryWadi();
    const { id } = await wadi.submit("a", null);
    const stop = new AbortController();
    const changes = wadi.watch(id, { ...UNTIL_NOTIFIED, signal: stop.signal });
    await changes.next();
    const next = changes.next();
    stop.abort(new Error("request closed"));
    await expect(next).rejects.toThrow("request closed");
    expect(await changes.next()).toEqual({ done: true, value: undefined });
    const idle = new AbortController();
    const others = wadi.watch(id, { ...UNTIL_NOTIFIED, signal: idle.signal });
    await others.next();
    idle.abort(new Error("gone"));
    await expect(others.next()).rejects.toThrow("gone");
    expect(() => wadi.watch(id, { signal: AbortSignal.abort(new Error("early")) })).toThrow("early");
  });

  test("return() releases everything at once, during a pause, during a poll, and before the first", async () => {
    const wadi = memoryWadi();
    const { id } = await wadi.submit("a", null);
    const subscribe = vi.spyOn(internalsOf(wadi).notifier, "subscribe");
    let released = 0;
    subscribe.mockImplementation(() => () => void released++);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const signal = new AbortController().signal;
      const removed = vi.spyOn(signal, "removeEventListener");
      const changes = wadi.watch(id, { ...UNTIL_NOTIFIED, signal });
      await changes.next();
      const next = changes.next();
      await vi.waitUntil(() => vi.getTimerCount() === 1);
      expect(await changes.return!()).toEqual({ done: true, value: undefined });
      expect(await next).toEqual({ done: true, value: undefined });
      expect([vi.getTimerCount(), removed.mock.calls.length > 0]).toEqual([0, true]);
      expect(released).toBe(subscribe.mock.calls.length);

      const untouched = wadi.watch(id, { ...UNTIL_NOTIFIED, signal });
      const before = removed.mock.calls.length;
      await untouched.return!();
      expect(removed.mock.calls.length).toBe(before + 1);
      expect(await untouched.next()).toEqual({ done: true, value: undefined });

      interceptOperations(
        wadi,
        "getStatus",
        (_, { signal }) =>
          new Promise((_, reject) => signal!.addEventListener("abort", () => reject(signal!.reason))),
      );
      const looking = wadi.watch(id, UNTIL_NOTIFIED);
      const first = looking.next();
      await looking.return!();
      expect(await first).toEqual({ done: true, value: undefined });
    } finally {
      vi.useRealTimers();
    }
  });

  test("a break in the loop releases too", async () => {
    const wadi = memoryWadi();
    const { id } = await wadi.submit("a", null);
    for await (const change of wadi.watch(id, UNTIL_NOTIFIED)) {
      expect(change.id).toBe(id);
      break;
    }
  });

  test("bad input is refused at once", () => {
    const wadi = memoryWadi();
    expect(() => wadi.watch("")).toThrow('id must be a non-empty string, got ""');
    expect(() => wadi.watch(undefined as never)).toThrow("watch takes a task or its id, got undefined");
    expect(() => wadi.watchByKey("k", { pollMs: 0 })).toThrow("pollMs must be an integer from 1 to");
    expect(() => wadi.watch("x", { poll: 1 } as never)).toThrow('watch has no option "poll"');
  });
});

describe("watchByKey", () => {
  test("waits for a key without a task, and goes on with the task that replaces it", async () => {
    const wadi = memoryWadi();
    const changes = wadi.watchByKey("k", FAST);
    const next = changes.next();
    const first = await wadi.submit("a", 1, { key: "k" });
    expect((await next).value).toMatchObject({ id: first.id, status: "queued" });
    const second = await wadi.submit("a", 2, { key: "k", conflict: "replace" });
    expect((await changes.next()).value).toMatchObject({ id: second.id, status: "queued" });
    const last = changes.next();
    await wadi.cancelByKey("k");
    expect((await last).value).toMatchObject({ id: second.id, status: "canceled" });
    expect((await changes.next()).done).toBe(true);
  });
});
