// How a run starts and ends.

import { EventEmitter } from "node:events";
import { expect, test, vi } from "vitest";
import { internalsOf } from "../../../src/producer/internals.ts";
import type { DrainSummary } from "../../../src/worker/drain-summary.ts";
import { Lifecycle } from "../../../src/worker/run/lifecycle.ts";
import { Runner } from "../../../src/worker/run/runner.ts";
import { memoryWadi } from "../../../testing/memory.ts";

const totals = { claimed: 3 } as DrainSummary;

/** A lifecycle whose drains only wait for their stop; `fail` ends the drain in progress. */
function newLifecycle() {
  const stops: number[] = [];
  let begun = 0;
  let fail: (error: unknown) => void = () => {};
  const wadi = memoryWadi();
  const worker = new Lifecycle(
    () =>
      new Runner({
        wadi: internalsOf(wadi),
        hooks: {},
        retention: [],
        sweepMs: 60_000,
        newDrain: (continuous) => ({
          status: { running: [], ready: 0, slots: 10, totals },
          run() {
            begun++;
            return new Promise((resolve, reject) => {
              fail = reject;
              const stopped = () => resolve({ ...totals, succeeded: stops.push(continuous.graceMs) });
              if (continuous.signal.aborted) stopped();
              else continuous.signal.addEventListener("abort", stopped);
            });
          },
        }),
      }),
  );
  return { worker, stops, begun: () => begun, fail: (error: unknown) => fail(error) };
}

class FakeProcess extends EventEmitter {
  readonly exits: number[] = [];
  exit(code: number): void {
    this.exits.push(code);
  }
}

test("a run ends by stop, which may be called at any time and more than once", async () => {
  const { worker, stops } = newLifecycle();
  await worker.stop();
  expect(worker.stats).toBeNull();
  const running = worker.run({ graceMs: 7 });
  expect(worker.stats?.state).toBe("running");
  const stopping = Promise.all([worker.stop({ graceMs: 5 }), worker.stop()]);
  expect(worker.stats?.state).toBe("stopping");
  await stopping;
  expect(worker.stats).toMatchObject({ state: "stopped", totals: { claimed: 3 } });
  expect(await running).toMatchObject({ claimed: 3, succeeded: 1 });
  await worker.stop();
  expect(stops).toEqual([5]);
});

test("a run ends by its signal, also by one that is aborted already, with the grace of the run", async () => {
  const { worker, stops } = newLifecycle();
  const stop = new AbortController();
  const running = worker.run({ signal: stop.signal, graceMs: 7 });
  stop.abort();
  await running;
  await worker.run({ signal: stop.signal });
  expect(stops).toEqual([7, 10_000]);
});

test("runs once at a time, and again after it has ended", async () => {
  const { worker, begun } = newLifecycle();
  const running = worker.run();
  const process = new FakeProcess();
  const again = /^this worker is already running; stop it first$/;
  await expect(worker.run()).rejects.toThrow(again);
  await expect(worker.serve({ process })).rejects.toThrow(again);
  await expect(worker.background(() => expect.fail("called"))).rejects.toThrow(again);
  expect(process.eventNames()).toEqual([]);
  await worker.stop();
  await running;
  await Promise.all([worker.run(), worker.stop()]);
  expect(begun()).toBe(2);
});

test("serving, the first signal stops and a second one ends the process", async () => {
  const { worker, stops } = newLifecycle();
  const process = new FakeProcess();
  const serving = worker.serve({ process, graceMs: 9 });
  process.emit("SIGTERM");
  process.emit("SIGINT");
  expect(await serving).toMatchObject({ claimed: 3 });
  expect([stops, process.exits, process.eventNames()]).toEqual([[9], [130], []]);
});

test("serving leaves no listener behind after stop or an error", async () => {
  const { worker, fail } = newLifecycle();
  const process = new FakeProcess();
  const serving = worker.serve({ process });
  await worker.stop();
  await serving;
  const failing = worker.serve({ process });
  fail(new Error("no such role"));
  await expect(failing).rejects.toThrow("no such role");
  expect(process.eventNames()).toEqual([]);
});

test("background runs while the function does, and returns what that returns", async () => {
  const { worker, begun, stops } = newLifecycle();
  const value = await worker.background(async () => {
    expect(worker.stats?.state).toBe("running");
    return 42;
  });
  expect([value, begun(), stops, worker.stats?.state]).toEqual([42, 1, [10_000], "stopped"]);
});

test("the error of the function goes before that of the worker", async () => {
  const { worker, fail, stops } = newLifecycle();
  const wrong = new Error("wrong");
  await expect(worker.background(() => Promise.reject(wrong))).rejects.toBe(wrong);
  expect(stops).toEqual([10_000]);
  const both = worker.background(async () => {
    fail(new Error("the worker's"));
    await vi.waitUntil(() => worker.stats?.state === "stopped");
    throw wrong;
  });
  await expect(both).rejects.toBe(wrong);
  await expect(worker.background(() => fail(new Error("the worker's")))).rejects.toThrow("the worker's");
});

test("refuses options that are unknown or out of range before anything begins", async () => {
  const { worker, begun } = newLifecycle();
  const refused = (work: Promise<unknown>, message: RegExp) =>
    expect(work).rejects.toMatchObject({ code: "INVALID_ARGUMENT", message: expect.stringMatching(message) });
  await refused(worker.run({ graceMs: -1 }), /^graceMs must be an integer from 0/);
  await refused(worker.run({ grace: 1 } as object), /^run has no option "grace"/);
  await refused(worker.serve({ timeout: 1 } as object), /^serve has no option "timeout"/);
  await refused(worker.stop({ signal: 1 } as object), /^stop has no option "signal"/);
  await refused(
    worker.background(() => 1, { process: 1 } as object),
    /^background has no option "process"/,
  );
  await refused(worker.background(5 as never), /^background takes a function/);
  expect(begun()).toBe(0);
});
