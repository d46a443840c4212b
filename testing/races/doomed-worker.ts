// A worker that runs until it is killed, and records each run of a handler in a file.

import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type Wadi, Worker } from "../../src/index.ts";
import { claimOf, TASK } from "./jobs.ts";

export interface DoomedWork {
  /** File that gets a line for each run of a handler before the handler does anything else. */
  readonly record: string;
  readonly concurrency: number;
  readonly leaseMs: number;
}

/** Drains for ever; only a signal ends it. A task's payload is how long it takes, in milliseconds. */
export async function workUntilKilled(wadi: Wadi, options: DoomedWork): Promise<never> {
  const { record, concurrency, leaseMs } = options;
  const worker = new Worker(wadi, { concurrency, leaseMs, prefetch: 2 }).task(TASK, async (context) => {
    appendFileSync(record, `${context.id} ${context.attempt}\n`);
    await sleep(Number(context.payload));
    return claimOf(context);
  });
  for (;;) {
    await worker.drain({ budgetMs: 60_000 });
    await sleep(20);
  }
}
