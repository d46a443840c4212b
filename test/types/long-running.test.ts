// Types of long-running workers.

import { expectTypeOf, test } from "vitest";
import { type DrainSummary, type Wadi, Worker, type WorkerStats } from "../../src/index.ts";

// Checked by the compiler; nothing here runs.
declare const wadi: Wadi;
declare const worker: Worker;

test("run, serve, stop and background are typed, and unknown options are refused", () => {
  const _ = () => {
    expectTypeOf(worker.run({ signal: new AbortController().signal, graceMs: 5 })).toEqualTypeOf<
      Promise<DrainSummary>
    >();
    expectTypeOf(worker.serve({ process })).toEqualTypeOf<Promise<DrainSummary>>();
    expectTypeOf(worker.background(() => 42)).toEqualTypeOf<Promise<number>>();
    expectTypeOf(worker.background(async () => "x", { graceMs: 1 })).toEqualTypeOf<Promise<string>>();
    expectTypeOf(worker.stop()).toEqualTypeOf<Promise<void>>();
    expectTypeOf(worker.stats()).toEqualTypeOf<WorkerStats>();
    // @ts-expect-error: there is no such option
    worker.run({ grace: 5 });
    // @ts-expect-error: only serve takes a process
    worker.run({ process });
    // @ts-expect-error: not something that gets signals
    worker.serve({ process: {} });
    // @ts-expect-error: stop takes no signal
    worker.stop({ signal: new AbortController().signal });
    new Worker(wadi, {
      pollMs: 1,
      maxPollMs: 2,
      sweepMs: 1000,
      retention: [
        { queue: "q", status: "failed", olderThanMs: 1 },
        { name: "n", olderThanMs: { succeeded: 1 } },
      ],
    });
    // @ts-expect-error: a rule has an age
    new Worker(wadi, { retention: [{ queue: "q" }] });
    // @ts-expect-error: queued tasks are never swept
    new Worker(wadi, { retention: [{ status: "queued", olderThanMs: 1 }] });
  };
  expectTypeOf(_).toBeFunction();
});
