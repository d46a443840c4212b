// The events that a worker emits.

import Database from "better-sqlite3";
import { expect, test, vi } from "vitest";
import { betterSqlite3 } from "../../src/drivers/better-sqlite3.ts";
import { TaskError, Wadi, Worker, type WorkerEvent } from "../../src/index.ts";
import { ManualClock, memoryWadi } from "../../testing/memory.ts";
import { storeOf } from "../../testing/store.ts";

function listener() {
  const events: WorkerEvent[] = [];
  return { events, onEvent: (event: WorkerEvent) => void events.push(event) };
}

const about = (event: WorkerEvent) =>
  event.type === "drained" ? event.type : `${event.type} ${event.name} ${event.attempt}`;

test("each step of an attempt has its event, after the database has stored it", async () => {
  const clock = new ManualClock();
  const wadi = memoryWadi({ clock: clock.read });
  const { events, onEvent } = listener();
  const ids: Record<string, string> = {};
  for (const name of ["good", "bad", "again", "dropped"]) ids[name] = (await wadi.submit(name, null)).id;
  clock.advance(250);
  const worker = new Worker(wadi, { onEvent, concurrency: 4 })
    .task("good", () => 1)
    .task("bad", () => {
      throw new TaskError("no", { code: "sold_out", retryable: false });
    })
    .task("again", () => {
      throw new TaskError("later", { delayMs: 5000 });
    })
    .task("dropped", async ({ id }) => void (await wadi.cancel(id)));
  await worker.drain();
  for (const name of Object.keys(ids)) {
    const own = events.filter((event) => event.type !== "drained" && event.id === ids[name]);
    expect(own.map(({ type }) => type)).toEqual([
      "claimed",
      "started",
      { good: "succeeded", bad: "failed", again: "retried", dropped: "canceled" }[name],
    ]);
    expect(own[0]).toMatchObject({ name, queue: "default", attempt: 1, queuedMs: 250 });
    expect(own[2]).toMatchObject({ queuedMs: 250, durationMs: expect.any(Number) });
  }
  const of = (type: string) => events.find((event) => event.type === type);
  expect(of("failed")).toMatchObject({ error: { code: "sold_out", message: "no" } });
  expect(of("retried")).toMatchObject({ error: { code: "task_error" }, delayMs: 5000 });
  expect(of("succeeded")).not.toHaveProperty("error");
  expect(events.at(-1)).toMatchObject({ type: "drained", summary: { claimed: 4, succeeded: 1, failed: 1 } });
});

test("released and recovered tasks and lost leases have their events too", async () => {
  const clock = new ManualClock();
  const wadi = memoryWadi({ clock: clock.read });
  const { events, onEvent } = listener();
  const stop = new AbortController();
  await wadi.submitMany("a", [{ payload: 1 }, { payload: 2 }]);
  const other = new Worker(wadi).task("a", () => 1);
  const worker = new Worker(wadi, { onEvent, concurrency: 1, prefetch: 1 }).task("a", async () => {
    stop.abort();
    clock.advance(120_000);
    await other.drain();
  });
  expect(await worker.drain({ signal: stop.signal })).toMatchObject({ claimed: 2, lost: 2 });
  const recovering = new Worker(wadi, { onEvent, concurrency: 1, prefetch: 5 }).task("a", () => 1);
  const [left] = await wadi.submitMany("a", [{ payload: 3 }]);
  const lane = { queue: "default", name: "a", quota: 1 };
  const request = { pools: [{ lanes: [lane], limit: 1 }], workerId: "gone", leaseMs: 1000, limited: false };
  await storeOf(wadi).claim(request);
  clock.advance(1000);
  await recovering.drain();
  expect(events.map(about)).toEqual([
    ...["claimed a 1", "claimed a 1", "started a 1", "lostLease a 1", "lostLease a 1", "drained"],
    ...["recovered a 1", "claimed a 2", "started a 2", "succeeded a 2", "drained"],
  ]);
  expect(events.find(({ type }) => type === "recovered")).toMatchObject({ id: left!.id, status: "queued" });

  const again = new AbortController();
  await wadi.submitMany("a", [{ payload: 1 }, { payload: 2 }]);
  events.length = 0;
  const released = new Worker(wadi, { onEvent, concurrency: 1, prefetch: 1 }).task("a", () => again.abort());
  await released.drain({ signal: again.signal });
  expect(events.map(about)).toContain("released a 1");
});

test("a listener or reporter that throws breaks nothing", async () => {
  const wadi = memoryWadi();
  await wadi.submit("a", null);
  const errors: unknown[] = [];
  const onEvent = () => {
    throw new Error("deaf");
  };
  const onError = (error: unknown, { operation }: { operation: string }) => {
    errors.push([(error as Error).message, operation]);
    throw new Error("mute");
  };
  const worker = new Worker(wadi, { onEvent, onError }).task("a", () => 1);
  expect(await worker.drain()).toMatchObject({ succeeded: 1 });
  expect(errors).toEqual(Array(4).fill(["deaf", "onEvent"])); // claimed, started, succeeded, drained
});

test("a listener or reporter that is an async function and rejects breaks nothing either", async () => {
  const wadi = memoryWadi();
  await wadi.submit("a", null);
  const errors: unknown[] = [];
  const unhandled = vi.fn();
  process.on("unhandledRejection", unhandled);
  const worker = new Worker(wadi, {
    onEvent: async () => {
      throw new Error("deaf");
    },
    onError: async (error) => {
      errors.push((error as Error).message);
      throw new Error("mute");
    },
  }).task("a", () => 1);
  expect(await worker.drain()).toMatchObject({ succeeded: 1 });
  await new Promise((resolve) => setTimeout(resolve, 0));
  process.removeListener("unhandledRejection", unhandled);
  expect(errors).toEqual(Array(4).fill("deaf"));
  expect(unhandled).not.toHaveBeenCalled();
});

test("a result that the database refuses is reported as a failure with its error", async () => {
  const db = new Database(":memory:");
  const wadi = new Wadi(betterSqlite3(db));
  await wadi.migrate();
  db.exec(
    `create trigger refuse before update on cairnq_tasks when new.result = '13'
     begin select raise(abort, 'no 13'); end`,
  );
  for (const payload of [12, 13]) await wadi.submit("a", payload);
  const { events, onEvent } = listener();
  const worker = new Worker(wadi, { onEvent }).task("a", ({ payload }) => payload);
  expect(await worker.drain()).toMatchObject({ succeeded: 1, failed: 1 });
  const failed = events.filter(({ type }) => type === "failed");
  expect(failed).toMatchObject([{ error: { code: "unserializable_result", retryable: false } }]);
});

test("around wraps each call, and an error it throws fails the attempt", async () => {
  const wadi = memoryWadi();
  await wadi.submitMany("one", [{ payload: 1 }, { payload: 2 }]);
  await wadi.submitMany("many", [{ payload: 3 }, { payload: 4 }]);
  const refused = await wadi.submit("refused", 5, { maxAttempts: 1 });
  const calls: unknown[] = [];
  const worker = new Worker(wadi, {
    concurrency: 1,
    around: async (contexts, run) => {
      calls.push(contexts.map(({ payload }) => payload));
      if (contexts[0]!.task.name === "refused") throw new Error("not today");
      return run();
    },
  })
    .task("one", ({ payload }) => payload)
    .task("many", (contexts) => new Map(contexts.map(({ id, payload }) => [id, payload])), { batch: 2 })
    .task("refused", () => 1);
  expect(await worker.drain()).toMatchObject({ succeeded: 4, failed: 1 });
  expect(calls).toHaveLength(4);
  expect(calls).toContainEqual([3, 4]);
  expect((await wadi.list({ name: "many" })).map(({ result }) => result).sort()).toEqual([3, 4]);
  expect((await wadi.get(refused.id))?.error?.message).toBe("not today");
});

test("a handler call that around omits does not succeed", async () => {
  const wadi = memoryWadi();
  const { id } = await wadi.submit("a", 1, { maxAttempts: 1 });
  await new Worker(wadi, { around: async () => 1 }).task("a", () => 1).drain();
  const task = await wadi.get(id);
  expect(task).toMatchObject({
    status: "failed",
    error: { message: expect.stringContaining("must call run") },
  });
});

test("waits of the same Wadi are notified of an end, without a poll", async () => {
  const wadi = memoryWadi();
  const { id } = await wadi.submit("a", null);
  const waiting = wadi.wait(id, { pollMs: 60_000, maxPollMs: 60_000, timeoutMs: 50_000 });
  await new Promise((resolve) => setTimeout(resolve, 5));
  await new Worker(wadi).task("a", () => 1).drain();
  expect((await waiting).result).toBe(1);
});
