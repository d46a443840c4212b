// Tasks that expire unless a worker claims them in time.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { defineTask, TaskCanceled, Wadi, Worker } from "../../../src/index.ts";
import type { OpenTarget } from "../../../testing/target.ts";
import { pickTargets } from "../../../testing/targets.ts";

const TARGETS = ["better-sqlite3-memory", "libsql-http", "d1", "pg", "neon-http"];
const START_MS = Date.UTC(2026, 0, 1);

describe.each(pickTargets(TARGETS))("expiry on $name", (target) => {
  let open: OpenTarget;
  let wadi: Wadi;
  let nowMs: number;

  beforeEach(async () => {
    open = await target.open();
    nowMs = START_MS;
    wadi = new Wadi(open.executor, { clock: () => nowMs });
  });

  afterEach(() => open.close());

  const drain = (handler = () => null) => new Worker(wadi).task("a", handler).drain();
  const expired = {
    status: "canceled",
    completedAtMs: START_MS + 1000,
    error: {
      type: "Expired",
      code: "expired",
      retryable: false,
      details: { expires_at_ms: START_MS + 1000 },
    },
  };

  test("a task reads as canceled from its expiry on, before and after a claim has ended it", async () => {
    const task = await wadi.submit("a", { x: 1 }, { expiresInMs: 1000, key: "k" });
    expect(task).toMatchObject({ status: "queued", expiresAtMs: START_MS + 1000 });
    expect(await wadi.get(task.id)).toMatchObject({ status: "queued", expiresAtMs: START_MS + 1000 });
    nowMs += 999;
    expect(await wadi.getStatus(task.id)).toMatchObject({ status: "queued" });
    nowMs += 1;
    const readAll = async () => {
      expect(await wadi.get(task.id)).toMatchObject(expired);
      expect(await wadi.getByKey("k")).toMatchObject(expired);
      expect(await wadi.getStatus(task.id)).toMatchObject({ status: "canceled" });
      expect(await wadi.list({ status: "canceled" })).toMatchObject([{ id: task.id, ...expired }]);
      expect(await wadi.list({ status: "queued" })).toEqual([]);
      expect(await wadi.wait(task.id, { timeoutMs: 5000 })).toMatchObject(expired);
      expect(await wadi.waitByKey("k", { timeoutMs: 5000 })).toMatchObject(expired);
      expect(await wadi.cancel(task.id)).toMatchObject({ outcome: "unchanged", status: "canceled" });
    };
    await readAll();
    expect(await drain()).toMatchObject({ claimed: 0, more: false, nextDueAtMs: null });
    expect(await wadi.stats()).toEqual({
      default: { queued: 0, running: 0, succeeded: 0, failed: 0, canceled: 1 },
    });
    await readAll();
    expect(await wadi.retry(task.id)).toMatchObject({ outcome: "queued", expiresAtMs: null });
    nowMs += 10_000;
    expect(await drain()).toMatchObject({ succeeded: 1 });
  });

  test("a retry queues a task that has expired and that no claim has ended", async () => {
    const { id } = await wadi.submit("a", null, { expiresInMs: 1000 });
    nowMs += 5000;
    expect(await wadi.retry(id)).toMatchObject({ outcome: "queued", status: "queued", expiresAtMs: null });
    expect(await drain()).toMatchObject({ succeeded: 1 });
  });

  test("it counts from the due time, for every kind of submit", async () => {
    const daily = defineTask({ name: "a", expiresInMs: 1000 });
    const delayed = await wadi.submit(daily, null, { delayMs: 500 });
    const past = await wadi.submit(daily, null, { runAt: START_MS - 100_000 });
    const [one, other] = await wadi.submitMany(daily, [{ payload: 1 }, { payload: 2, expiresInMs: 7 }]);
    const keyed = await wadi.submit(daily, null, { key: "k", delayMs: 500 });
    const debounced = await wadi.submit(daily, null, {
      key: "d",
      debounce: { delayMs: 400, maxDelayMs: 500 },
    });
    const after = [delayed, past, one!, other!, keyed, debounced].map(
      ({ expiresAtMs }) => expiresAtMs! - START_MS,
    );
    expect(after).toEqual([1500, 1000, 1000, 7, 1500, 1400]);
    nowMs += 200;
    const again = await wadi.submit(daily, null, { key: "d", debounce: { delayMs: 400, maxDelayMs: 500 } });
    expect(again).toMatchObject({ id: debounced.id, outcome: "debounced", expiresAtMs: START_MS + 1500 });
    const stored = (await wadi.list()).map(({ id, expiresAtMs }) => [id, expiresAtMs]);
    expect(Object.fromEntries(stored)).toMatchObject({
      [delayed.id]: START_MS + 1500,
      [other!.id]: START_MS + 7,
      [keyed.id]: START_MS + 1500,
    });
  });

  test.each(["reuse", "reuse-succeeded", "replace", "debounce"] as const)(
    "a task that has expired frees its key, %s",
    async (conflict) => {
      const policy = conflict === "debounce" ? { debounce: { delayMs: 1 } } : { conflict };
      const first = await wadi.submit("a", 1, { key: "k", expiresInMs: 1000, ...policy });
      nowMs += 2000;
      const second = await wadi.submit("a", 2, { key: "k", ...policy });
      expect(second).toMatchObject({ outcome: "created", status: "queued" });
      const third = await wadi.submit("b", 3, { key: "other", expiresInMs: 1 });
      nowMs += 5;
      expect(await wadi.submit("a", 4, { key: "other", ...policy })).toMatchObject({ outcome: "created" });
      nowMs += 5;
      expect(await drain()).toMatchObject({ succeeded: 2 });
      expect(await wadi.get(first.id)).toMatchObject({ status: "canceled" });
      expect(await wadi.get(third.id)).toMatchObject({ status: "canceled" });
      expect(await wadi.getByKey("k")).toMatchObject({ id: second.id, status: "succeeded" });
    },
  );

  test("a task that was claimed in time does not expire: not while it runs, is retried, or is snoozed", async () => {
    let run = 0;
    const worker = new Worker(wadi, { logger: null });
    worker.task("a", (context) => {
      nowMs += 5000;
      if (++run === 1) throw new Error("again");
      if (run === 2) context.snooze(60_000);
    });
    const { id } = await wadi.submit("a", null, { expiresInMs: 1000 });
    await worker.drain({ lingerMs: 0 });
    expect(await wadi.get(id)).toMatchObject({ status: "queued", attempt: 1 });
    nowMs += 600_000;
    await worker.drain({ lingerMs: 0 });
    expect(await wadi.get(id)).toMatchObject({ status: "queued", expiresAtMs: null });
    nowMs += 600_000;
    expect(await worker.drain()).toMatchObject({ succeeded: 1 });
  });

  test("many expired tasks before live ones are ended, at most 1,000 a claim, and those behind them run", async () => {
    const entries = (expiresInMs?: number) =>
      Array.from({ length: 1500 }, () => ({ payload: null, expiresInMs }));
    await wadi.submitMany("a", entries(1000).slice(0, 1500));
    await wadi.submitMany("b", entries(1000).slice(0, 700), { deadlineMs: Date.now() + 60_000 });
    nowMs += 2000;
    await wadi.submitMany("a", entries().slice(0, 3));
    const summary = await drain();
    expect(summary).toMatchObject({ succeeded: 3, more: false, nextDueAtMs: null });
    // The first claim finds out, three end 1,000, 1,000 and 200, the last settles and finds nothing.
    expect(summary.roundTrips).toBeLessThanOrEqual(6);
    expect(await wadi.stats()).toMatchObject({ default: { queued: 0, canceled: 2200, succeeded: 3 } });
  });
});

test("a wait in the process of the worker that ends an expired task is notified", async () => {
  const [target] = pickTargets(["better-sqlite3-memory"]);
  const open = await target!.open();
  try {
    let nowMs = START_MS;
    const wadi = new Wadi(open.executor, { clock: () => nowMs });
    const { id } = await wadi.submit("a", null, { expiresInMs: 1000 });
    const waiting = wadi.wait(id, { pollMs: 20_000, maxPollMs: 20_000, timeoutMs: 25_000 });
    await wadi.getStatus(id);
    nowMs += 2000;
    await new Worker(wadi).task("b", () => null).drain();
    expect(await waiting).toMatchObject({ status: "canceled", error: { code: "expired" } });
  } finally {
    await open.close();
  }
});

test("a call rejects with the expiry", async () => {
  const [target] = pickTargets(["better-sqlite3-memory"]);
  const open = await target!.open();
  try {
    const call = new Wadi(open.executor).call("a", null, { expiresInMs: 5, timeoutMs: 10_000 });
    await expect(call).rejects.toThrow(TaskCanceled);
    await expect(call).rejects.toThrow("expired before a worker had claimed it");
  } finally {
    await open.close();
  }
});

test.each([0, -1, 1.5, "1000", 1e15])("expiresInMs %s is refused", async (expiresInMs) => {
  const [target] = pickTargets(["better-sqlite3-memory"]);
  const open = await target!.open();
  try {
    const wadi = new Wadi(open.executor);
    await expect(wadi.submit("a", null, { expiresInMs: expiresInMs as number })).rejects.toThrow(
      "expiresInMs must be",
    );
    expect(() => defineTask({ name: "a", expiresInMs: expiresInMs as number })).toThrow(
      "expiresInMs must be",
    );
  } finally {
    await open.close();
  }
});
