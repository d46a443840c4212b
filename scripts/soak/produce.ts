// The producer of the soak: single, keyed and bulk submits at a steady rate.

import type { SubmitEntry, Wadi } from "../../src/index.ts";
import { type ProduceJob, SOAK_TASK } from "./messages.ts";

export interface ProducerEvents {
  /** Called as soon as a submit has returned to its caller. */
  accepted(ids: string[]): void;
  failed(error: unknown): void;
}

const TICK_MS = 100;

/** Submits single, keyed and bulk tasks until `signal` aborts, also after submits that failed. */
export async function produce(
  wadi: Wadi,
  { tasksPerSecond, keys }: ProduceJob,
  signal: AbortSignal,
  { accepted, failed }: ProducerEvents,
): Promise<void> {
  const open = new Set<Promise<void>>();
  const perTick = Math.max(1, Math.round((tasksPerSecond * TICK_MS) / 1000));
  const watch = (submitting: Promise<{ id: string }[]>) => {
    const settled = submitting.then((tasks) => accepted(tasks.map(({ id }) => id)), failed);
    open.add(settled);
    void settled.then(() => open.delete(settled));
  };
  while (!signal.aborted) {
    // Nothing is submitted while earlier submits still wait, so that an outage does not pile them up.
    if (open.size < 50) {
      const kind = Math.random();
      if (kind < 0.2) watch(wadi.submitMany(SOAK_TASK, Array.from({ length: perTick }, entry)));
      else {
        for (let i = 0; i < perTick; i++) {
          const { payload, ...options } = entry();
          const key = kind < 0.5 ? { key: `soak-${Math.floor(Math.random() * keys)}` } : {};
          watch(wadi.submit(SOAK_TASK, payload, { ...options, ...key }).then((task) => [task]));
        }
      }
    }
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  await Promise.all(open);
}

/** How long it works, in milliseconds. Some are due later, and no number of faults makes one fail for good. */
function entry(): SubmitEntry {
  const random = Math.random();
  const payload = random < 0.02 ? 1500 : Math.floor(random * 50);
  const delayMs = Math.random() < 0.1 ? Math.floor(Math.random() * 2000) : 0;
  return {
    payload,
    delayMs,
    priority: Math.floor(Math.random() * 3),
    maxAttempts: 10_000,
    maxCrashes: 10_000,
  };
}
