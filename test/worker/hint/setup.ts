// What the tests of hints share: clients with a hint and a moved clock, and a minute's tick.

import { type Hint, hintInMemory, type Wadi, type WadiOptions, Worker } from "../../../src/index.ts";
import { internalsOf } from "../../../src/producer/internals.ts";
import { ManualClock, memoryWadi } from "../../../testing/memory.ts";

export const MINUTE_MS = 60_000;

/** Clients that share a hint and a clock, and what they reported. */
export function setup(hint: Hint = hintInMemory(), open: (options: WadiOptions) => Wadi = memoryWadi) {
  const clock = new ManualClock();
  const errors: unknown[] = [];
  const options: WadiOptions = { clock: clock.read, hint, onError: (error) => errors.push(error) };
  const wadi = open(options);
  const worker = (name = "a", of = wadi) =>
    new Worker(of, { logger: null, onError: (error) => errors.push(error) }).task(name, () => null);
  /** The next minute's tick. */
  const tick = (of: Worker) => {
    clock.advance(MINUTE_MS);
    return of.drain({ lingerMs: 0 });
  };
  return { clock, errors, hint, wadi, worker, tick };
}

export const idle = { roundTrips: 0, queries: 0, claimed: 0, more: false };
export const asked = { roundTrips: 1 };

export async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 2));
}

/** The cell that a drain of this worker reads, besides `changed`. */
export async function cellsOf(worker: Worker): Promise<string[]> {
  const read: string[] = [];
  const { wadi } = worker;
  const { hint: cells } = internalsOf(wadi);
  const original = cells!.read.bind(cells);
  cells!.read = (handlers) => {
    read.push(`drained:${handlers}`);
    return original(handlers);
  };
  await worker.drain();
  cells!.read = original;
  return read;
}
