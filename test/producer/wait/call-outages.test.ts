// Calls during an outage of the database.

import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { DriverError, TaskTimeout, Wadi, Worker } from "../../../src/index.ts";
import { type Loss, lossy } from "../../../testing/lossy-executor.ts";
import { memoryWadi } from "../../../testing/memory.ts";
import { until } from "../../../testing/until.ts";

const FAST = { baseMs: 1, capMs: 1 };

/** A client whose submits meet `loss.of`, and a second one on the same database that meets nothing. */
async function lossyWadi() {
  const loss = { of: null as Loss };
  const inner = memoryWadi().executor;
  const wadi = new Wadi(
    lossy(inner, () => loss.of),
    { requestRetry: FAST },
  );
  await wadi.migrate();
  await wadi.stats();
  return { wadi, loss, other: new Wadi(inner) };
}

const work = (wadi: Wadi) => new Worker(wadi).task("a", ({ payload }) => payload).drain();
const options = { timeoutMs: 60_000, pollMs: 10, maxPollMs: 20 };

test.each(["before", "busy", "after"] as const)(
  "a call outlives an outage in which every submit is lost (%s), and makes one task",
  async (kind) => {
    const { wadi, loss, other } = await lossyWadi();
    loss.of = kind;
    const call = wadi.call("a", 7, options);
    await pause(500);
    loss.of = null;
    await until(async () => (await other.list()).length === 1);
    await work(other);
    expect(await call).toBe(7);
    expect(await other.list()).toHaveLength(1);
  },
);

test.each(["reuse", "reuse-succeeded", "reject", "replace"] as const)(
  "a keyed call whose task is done before an answer arrives returns its result (%s)",
  async (conflict) => {
    const { wadi, loss, other } = await lossyWadi();
    loss.of = "after";
    const call = wadi.call("a", 7, { ...options, key: "k", conflict });
    await until(async () => (await other.list()).length === 1);
    await work(other);
    await pause(100);
    loss.of = null;
    expect(await call).toBe(7);
    expect(await other.list()).toHaveLength(1);
  },
);

test("a call whose submit has no answer ends at its timeout; with its id a retry makes no second task", async () => {
  const { wadi, loss, other } = await lossyWadi();
  loss.of = "after";
  const error = await wadi.call("a", 7, { timeoutMs: 150 }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(TaskTimeout);
  const { id } = error as TaskTimeout;
  expect(error).toMatchObject({
    id: expect.stringMatching(/^task_/),
    retryable: true,
    message: expect.stringContaining("it is not known whether it was queued"),
    cause: { name: "DriverError" },
  });
  loss.of = null;
  expect((await other.list()).map((task) => task.id)).toEqual([id]);
  const again = wadi.call("a", 7, { ...options, id: id! });
  await work(other);
  expect(await again).toBe(7);
  expect(await wadi.call("a", 7, { ...options, id: id! })).toBe(7); // done already
  expect(await other.list()).toHaveLength(1);
});

test("trying again with an id that was never queued makes the one task", async () => {
  const { wadi, loss, other } = await lossyWadi();
  loss.of = "before";
  const error = await wadi.call("a", 7, { timeoutMs: 50 }).catch((thrown: unknown) => thrown);
  loss.of = null;
  expect(await other.list()).toEqual([]);
  const again = wadi.call("a", 7, { ...options, id: (error as TaskTimeout).id! });
  await until(async () => (await other.list()).length === 1);
  await work(other);
  expect(await again).toBe(7);
});

test("the error of a refused submit carries the id too, and ends the call at once", async () => {
  const { executor } = memoryWadi();
  const wadi = new Wadi({
    ...executor,
    batch: () => Promise.reject(new Error("no")),
    run: () => Promise.reject(new Error("no")),
    classify: () => "rejected",
  });
  const calls = await Promise.allSettled([wadi.call("a", 1), wadi.call("a", 2)]);
  const ids = calls.map((call) => {
    const { reason } = call as PromiseRejectedResult;
    expect(reason).toBeInstanceOf(DriverError);
    return reason.taskId as string;
  });
  expect(ids[0]).toMatch(/^task_/);
  expect(new Set(ids).size).toBe(2);
});

test("an id is checked before anything is sent", async () => {
  const { wadi } = await lossyWadi();
  await expect(wadi.call("a", 1, { id: "" })).rejects.toThrow('id must be a non-empty string, got ""');
});

test("an id of a task of another name is refused, and its result is not returned", async () => {
  const wadi = memoryWadi();
  const { id } = await wadi.submit("other", 1);
  const worker = new Worker(wadi).task("other", () => "its result").task("a", () => "mine");
  await worker.drain();
  await expect(wadi.call("a", 1, { id, timeoutMs: 5000 })).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    message: `task ${id} is one of "other", not of "a"; call with the id of an error of "a", or without one`,
  });
  const queued = await wadi.submit("other", 2);
  await expect(wadi.call("a", 1, { id: queued.id, timeoutMs: 600_000 })).rejects.toThrow(/is one of "other"/);
  expect(await wadi.list({ name: "a" })).toEqual([]);
});
