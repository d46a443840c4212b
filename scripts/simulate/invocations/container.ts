// A process that serves one invocation after the other, as a serverless platform reuses it: each is one drain.

import { setTimeout as sleep } from "node:timers/promises";
import { Wadi, Worker } from "../../../src/index.ts";
import { lossy } from "../../../testing/lossy-executor.ts";
import { connect } from "../../../testing/races/connect.ts";
import { type FaultRates, lossesOf } from "./fates.ts";
import { WorkLog } from "./work-log.ts";

/** What a container gets when it starts. */
export interface ContainerJob {
  readonly container: number;
  /** The name of its tasks. */
  readonly task: string;
  readonly seed: number;
  readonly url: string;
  readonly logPath: string;
  readonly leaseMs: number;
  readonly concurrency: number;
  readonly rates: FaultRates;
}

/** The start of an invocation. */
export interface Invocation {
  readonly invocation: number;
  /** When the platform kills it, in epoch milliseconds. */
  readonly deadline: number;
}

/** The answer of an invocation. */
export interface Answer {
  readonly claimed: number;
  /** The error that the drain failed with. */
  readonly error: string | null;
}

const job: ContainerJob = JSON.parse(process.argv[2]!);
const log = new WorkLog(job.logPath);
const { executor } = await connect({ target: "pg", url: job.url });
const isLost = lossesOf(job.seed, job.container, job.rates);
const wadi = new Wadi(lossy(executor, () => (isLost() ? "after" : null)));
let invocation = 0;
const worker = new Worker(wadi, {
  name: `container-${job.container}`,
  leaseMs: job.leaseMs,
  concurrency: job.concurrency,
  backoff: { baseMs: 50, capMs: 500 },
  onError: () => {},
  logger: null,
}).task(job.task, async ({ id, payload, attempt, task, signal }) => {
  const run = log.start(id, invocation);
  try {
    await sleep((payload as { readonly ms: number }).ms, undefined, { signal });
  } finally {
    log.end(run);
  }
  return { run, owner: task.workerId, attempt };
});

async function answer({ deadline }: Invocation): Promise<Answer> {
  try {
    const { claimed } = await worker.drain({ deadline, lingerMs: 0 });
    return { claimed, error: null };
  } catch (error) {
    return { claimed: 0, error: String(error) };
  }
}

process.on("disconnect", () => process.exit());
process.on("message", async (start: Invocation) => {
  ({ invocation } = start);
  process.send?.(await answer(start));
});
await wadi.getStatus("none"); // the first connection is part of the boot, as in a container that opens it there
process.send?.("ready");
