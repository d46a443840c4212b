// The internals of a Wadi are hidden from applications.

import { expect, test } from "vitest";
import { type Wadi, Worker } from "../../src/index.ts";
import { internalsOf } from "../../src/producer/internals.ts";
import { memoryWadi } from "../../testing/memory.ts";

test("the internals of a Wadi are no members of it, and neither printed nor copied", () => {
  const wadi = memoryWadi();
  for (const name of ["store", "session", "notifier", "signals", "submitter", "submitFrom"]) {
    expect(name in wadi).toBe(false);
  }
  expect(Object.keys(wadi)).toEqual(["statements", "schedules"]);
  expect(Object.getOwnPropertySymbols({ ...wadi })).toEqual([]);
  expect(internalsOf(wadi).executor).toBe(wadi.executor);
});

test("only a Wadi has internals", () => {
  for (const value of [undefined, null, {}, "wadi", { ...memoryWadi() }]) {
    expect(() => internalsOf(value)).toThrow(/^internalsOf takes a Wadi, such as new Wadi/);
    expect(() => new Worker(value as Wadi)).toThrow(/^new Worker takes a Wadi, such as new Wadi/);
  }
});
