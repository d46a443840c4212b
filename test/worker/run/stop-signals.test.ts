// The signals of a process that stop a worker.

import { EventEmitter } from "node:events";
import { expect, test, vi } from "vitest";
import { handleStopSignals, thisProcess } from "../../../src/worker/run/stop-signals.ts";

class FakeProcess extends EventEmitter {
  readonly exits: number[] = [];
  exit(code: number): void {
    this.exits.push(code);
  }
}

test.each([
  ["SIGINT", "SIGINT", 130],
  ["SIGTERM", "SIGTERM", 143],
  ["SIGTERM", "SIGINT", 130],
] as const)("%s stops, and then %s ends the process with %d", (first, second, code) => {
  const process = new FakeProcess();
  const stops: string[] = [];
  handleStopSignals(process, (signal) => stops.push(signal));
  process.emit(first);
  expect([stops, process.exits]).toEqual([[first], []]);
  process.emit(second);
  expect([stops, process.exits]).toEqual([[first], [code]]);
});

test("leaves no listener behind, and does not touch those of the application", () => {
  const process = new FakeProcess();
  process.on("SIGTERM", () => {});
  const release = handleStopSignals(process, () => {});
  expect([process.listenerCount("SIGINT"), process.listenerCount("SIGTERM")]).toEqual([1, 2]);
  release();
  expect([process.listenerCount("SIGINT"), process.listenerCount("SIGTERM")]).toEqual([0, 1]);
});

test("finds the process of this program, and says what to use on a platform without one", () => {
  expect(thisProcess()).toBe(process);
  for (const absent of [undefined, {}, { on: () => {} }]) {
    vi.stubGlobal("process", absent);
    try {
      expect(thisProcess).toThrow(/^serve needs a process that gets signals, .* use drain/);
    } finally {
      vi.unstubAllGlobals();
    }
  }
});
