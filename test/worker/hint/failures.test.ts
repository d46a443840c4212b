// A hint that fails, lies or is old stops neither a submit nor a drain.

import { describe, expect, test } from "vitest";
import { type Hint, hintInMemory, Wadi, Worker } from "../../../src/index.ts";
import { ManualClock, memoryWadi } from "../../../testing/memory.ts";
import { asked, cellsOf, idle, MINUTE_MS, setup } from "./setup.ts";

describe("a hint that fails", () => {
  const stores: [what: string, hint: Hint, isReported: boolean][] = [
    ["a get that throws", { ...hintInMemory(), get: () => Promise.reject(new Error("get")) }, true],
    [
      "a set that throws",
      {
        ...hintInMemory(),
        set: () => {
          throw new Error("set");
        },
      },
      true,
    ],
    ["garbage", { ...hintInMemory(), get: (cell) => (cell === "changed" ? null : "{]") }, true],
    ["garbage of another type", { ...hintInMemory(), get: () => 7 as never }, true],
    [
      "a time of garbage",
      { ...hintInMemory(), get: () => '{"seen":null,"atMs":"x","nextDueAtMs":null}' },
      true,
    ],
    ["a get that never answers", { ...hintInMemory(), get: () => new Promise(() => {}) }, true],
    ["lost writes", { ...hintInMemory(), set: () => {} }, false],
  ];

  test.each(stores)("%s stops neither a submit nor a drain", async (_, hint, isReported) => {
    const { wadi, worker, tick, errors } = setup(hint);
    await wadi.submit("a", null);
    expect(await tick(worker())).toMatchObject({ succeeded: 1, more: false });
    expect(await tick(worker())).toMatchObject(asked);
    expect(errors.length > 0).toBe(isReported);
  });

  test("a claim that the hint dates into the future counts for nothing", async () => {
    const { worker, tick, hint, clock } = setup();
    await tick(worker());
    const [cell] = await cellsOf(worker());
    const found = JSON.parse((await hint.get(cell!))!);
    await hint.set(cell!, JSON.stringify({ ...found, atMs: clock.nowMs + 60 * MINUTE_MS }));
    expect(await tick(worker())).toMatchObject(asked);
  });

  test.each([
    [{}, "hint must have get and set"],
    [{ get: 1, set: () => {} }, "hint.get must be a function"],
    [{ ...hintInMemory(), maxAgeMs: 10 }, "hint.maxAgeMs must be"],
    [{ ...hintInMemory(), max: 10 }, "max"],
  ])("%o is refused", (hint, message) => {
    expect(() => memoryWadi({ hint: hint as never })).toThrow(message);
  });
});

test("reads that are older than the newest write make a task late by no more than their age", async () => {
  const cells = new Map<string, { text: string; atMs: number }[]>();
  const clock = new ManualClock();
  // As KV: another place reads what was written a minute ago or longer.
  const hintAt = (staleMs: number): Hint => ({
    get: (cell) => cells.get(cell)?.findLast(({ atMs }) => atMs <= clock.nowMs - staleMs)?.text ?? null,
    set: (cell, text) => void cells.set(cell, [...(cells.get(cell) ?? []), { text, atMs: clock.nowMs }]),
  });
  const wadi = memoryWadi({ clock: clock.read, hint: hintAt(0) });
  const far = new Wadi(wadi.executor, { clock: clock.read, hint: hintAt(90_000) });
  const drainer = new Worker(far).task("a", () => null);
  const tick = () => {
    clock.advance(MINUTE_MS);
    return drainer.drain();
  };
  for (let i = 0; i < 4; i++) await tick();
  expect(await tick()).toMatchObject(idle);
  await wadi.submit("a", null);
  expect(await tick()).toMatchObject(idle);
  expect(await tick()).toMatchObject({ succeeded: 1 });
});
