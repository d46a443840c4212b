import { setTimeout as sleep } from "node:timers/promises";
import { type DrainSummary, type Wadi, Worker } from "../../src/index.ts";
import { claimOf, TASK } from "./jobs.ts";

/** Serves until SIGTERM. A task's payload is how long it takes, in milliseconds. */
export function serveUntilSigterm(wadi: Wadi): Promise<DrainSummary> {
  const worker = new Worker(wadi, { concurrency: 4, prefetch: 8, pollMs: 20, maxPollMs: 100 });
  worker.task(TASK, async (context) => {
    await sleep(Number(context.payload));
    return claimOf(context);
  });
  return worker.serve();
}
