// The tasks of the soak with faults: their payload, their handler and their submits.

import { kill, pid } from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import type { TaskContext, Wadi } from "../../../src/index.ts";
import type { Ledger, RunResult } from "./ledger.ts";

export const TASK = "soak.faults";

/** How long a handler works, or whether it kills its process instead. */
export interface Payload {
  readonly ms: number;
  readonly poison: boolean;
}

/** How long a second attempt works, so that a late settlement of the first arrives during it. */
const RERUN_MS = 1200;

/** The handler of all sides. It succeeds unless a fault prevents it. */
export function handler(ledger: Ledger, worker: string): (context: TaskContext) => Promise<RunResult> {
  return async (context) => {
    const { ms, poison } = context.payload as unknown as Payload;
    const run = ledger.start(context, worker);
    if (poison) kill(pid, "SIGKILL");
    await sleep(context.attempt > 1 ? RERUN_MS : ms);
    ledger.done(run);
    return { run };
  };
}

/** A task whose submit was answered. */
export interface Accepted {
  readonly id: string;
  readonly poison: boolean;
}

export interface SubmitRate {
  readonly perSecond: number;
  readonly maxAttempts: number;
  /** @default "default" */
  readonly queue?: string;
}

const TICK_MS = 200;
/** Submits stop while this number of them waits, so that an outage does not pile them up. */
const MAX_OPEN = 20;

/** Submits good tasks at a rate until `signal` aborts, and resolves once every submit has ended. */
export async function produce(
  wadi: Wadi,
  { perSecond, ...rest }: SubmitRate,
  signal: AbortSignal,
  accepted: Accepted[],
  failed: (what: string) => void,
): Promise<void> {
  const open = new Set<Promise<void>>();
  let due = 0;
  let lastMs = performance.now();
  while (!signal.aborted) {
    const nowMs = performance.now();
    due += (perSecond * (nowMs - lastMs)) / 1000; // a tick may come late
    lastMs = nowMs;
    if (open.size < MAX_OPEN) {
      const submitting = submit(wadi, Math.floor(due), rest, accepted).catch((error) =>
        failed(`submit: ${String(error)}`),
      );
      due -= Math.floor(due);
      open.add(submitting);
      void submitting.then(() => open.delete(submitting));
    }
    await sleep(TICK_MS);
  }
  await Promise.all(open);
}

/** Submits so many good tasks, and notes them once the submit is answered. */
export async function submit(
  wadi: Wadi,
  tasks: number,
  { maxAttempts, queue }: Omit<SubmitRate, "perSecond">,
  accepted: Accepted[],
): Promise<void> {
  if (tasks === 0) return;
  // A lease that a fault took from a handler at work counts as a crash. Only the poison may fail by them.
  const options = { maxAttempts, maxCrashes: maxAttempts, queue };
  const entries = Array.from({ length: tasks }, () => ({
    ...options,
    payload: { ms: Math.floor(Math.random() * 40), poison: false },
  }));
  const submitted = await wadi.submitMany(TASK, entries);
  for (const { id } of submitted) accepted.push({ id, poison: false });
}
