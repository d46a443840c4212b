// A job of the races: submits, and drains only when its own submits kick.

import { sleep } from "../../src/core/timers.ts";
import { Wadi, Worker, wakeInProcess } from "../../src/index.ts";
import { TASK } from "./task-name.ts";

export interface WakeArgs {
  readonly tasks: number;
  /** Longest pause between two submits: about as long as a drain takes. */
  readonly maxPauseMs: number;
  readonly startAtMs: number;
}

export interface WakeResult {
  readonly kicks: number;
  readonly drains: number;
}

/** Submits tasks with pauses in which drains end, and drains when its own submits kick. Nothing else starts a drain. */
export async function submitAndWake(
  { executor }: Wadi,
  { tasks, maxPauseMs, startAtMs }: WakeArgs,
): Promise<WakeResult> {
  await sleep(Math.max(0, startAtMs - Date.now()));
  const background = new Set<Promise<unknown>>();
  let [kicks, drains] = [0, 0];
  const waitUntil = (promise: Promise<unknown>) => {
    background.add(promise);
    void promise.finally(() => background.delete(promise));
  };
  const errors: unknown[] = [];
  const start = wakeInProcess({
    async drain(options) {
      drains++;
      return worker.drain({ hop: options?.hop, stayMs: drains % 2 });
    },
  });
  const wadi = new Wadi(executor, {
    waitUntil,
    onError: (error) => errors.push(error),
    wake(kick) {
      kicks++;
      return start(kick);
    },
  });
  const worker = new Worker(wadi, { concurrency: 5 }).task(TASK, () => null);
  for (let n = 0; n < tasks; n++) {
    // The first of three keep a drain going; the last meets its end.
    await wadi.submit(TASK, n, n % 3 === 0 ? { key: `${crypto.randomUUID()}` } : {});
    if (n % 3 === 2) await sleep(Math.random() * maxPauseMs);
  }
  while (background.size > 0) await Promise.all(background);
  if (errors.length > 0) throw errors[0];
  return { kicks, drains };
}
