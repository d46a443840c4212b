// Drains of limited tasks.

import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type DrainSummary, Wadi, Worker } from "../../../src/index.ts";
import { interceptOperations } from "../../../testing/intercept.ts";
import { ManualClock, memoryWadi } from "../../../testing/memory.ts";
import { pickTargets } from "../../../testing/targets.ts";

describe.each(pickTargets(["better-sqlite3-memory", "pg"]))("drains on $name", (target) => {
  test("two workers together keep to a key's concurrency, and leave nothing behind", async () => {
    const open = await target.open();
    const wadi = new Wadi(open.executor);
    const entry = { payload: 1, limits: { key: "k", concurrency: 2 } };
    await wadi.submitMany("a", Array<typeof entry>(12).fill(entry));
    await wadi.submitMany("a", Array(4).fill({ payload: 2 }));
    let running = 0;
    let most = 0;
    const drain = async (): Promise<DrainSummary[]> => {
      const worker = new Worker(wadi, { concurrency: 8 }).task("a", async ({ payload }) => {
        if (payload === 1) most = Math.max(most, ++running);
        await pause(5);
        if (payload === 1) running--;
      });
      const summaries = [await worker.drain()];
      while (summaries.at(-1)!.more) summaries.push(await worker.drain());
      return summaries;
    };
    const summaries = (await Promise.all([drain(), drain()])).flat();
    expect(summaries.reduce((sum, { succeeded }) => sum + succeeded, 0)).toBe(16);
    expect(most).toBe(2);
    await open.close();
  });
});

test("a first drain finds limited tasks with one more round trip, and no other drain pays for them", async () => {
  const wadi = memoryWadi();
  const submit = () => wadi.submit("a", null, { limits: { key: "k", concurrency: 1 } });
  await submit();
  const worker = new Worker(wadi).task("a", () => 1);
  const first = await worker.drain();
  expect(first).toMatchObject({ succeeded: 1, more: false });
  const empty = await worker.drain();
  expect(empty.roundTrips).toBe(1);
  await wadi.submit("a", null);
  const plain = await worker.drain();
  expect(first.roundTrips).toBe(plain.roundTrips + 1);
});

test("a drain whose rate is used up ends, and says when to come back", async () => {
  const clock = new ManualClock();
  const wadi = memoryWadi({ clock: clock.read });
  const entry = { payload: 1, limits: { key: "k", rate: { count: 3, perMs: 60_000 } } };
  await wadi.submitMany("a", Array<typeof entry>(5).fill(entry));
  const worker = new Worker(wadi).task("a", () => 1);
  const beganAtMs = clock.nowMs;
  expect(await worker.drain()).toMatchObject({ succeeded: 3, more: false, nextDueAtMs: beganAtMs + 60_000 });
  clock.advance(60_000);
  expect(await worker.drain()).toMatchObject({ succeeded: 2, more: false, nextDueAtMs: null });
});

test("drains of one worker that run side by side all find limited tasks", async () => {
  const wadi = memoryWadi();
  for (const payload of [1, 2]) await wadi.submit("a", payload, { limits: { key: "k", concurrency: 9 } });
  const worker = new Worker(wadi).task("a", () => null);
  let answer = () => {};
  const remove = interceptOperations(wadi, "settleAndClaim", async (send) => {
    remove();
    const answered = await send();
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    return answered;
  });
  const first = worker.drain();
  expect(await worker.drain({ maxTasks: 1 })).toMatchObject({ succeeded: 1 });
  answer();
  expect(await first).toMatchObject({ succeeded: 1, more: false });
});
