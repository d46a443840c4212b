/** Lets one invocation run in a container, with the faults that its fate has for it. */

import { setTimeout as sleep } from "node:timers/promises";
import type { Answer } from "./container.ts";
import type { ContainerProcess } from "./container-process.ts";
import type { Fate } from "./fates.ts";
import { machineMs } from "./work-log.ts";

/** What the platform did to one invocation. Times are in milliseconds of the machine's monotonic clock. */
export interface InvocationRecord {
  readonly invocation: number;
  /** When a fault killed it, while it ran; null: none did. */
  readonly killedAtMs: number | null;
  /** When the platform killed it, since it did not end before its deadline; null: it did. */
  readonly overranAtMs: number | null;
  /** When it did not run because it was frozen. */
  readonly frozenMs: readonly [from: number, to: number] | null;
  readonly error: string | null;
}

export interface InvocationPlan {
  readonly invocationMs: number;
  readonly leaseMs: number;
}

/** How much longer than a lease a process is frozen. */
const BEYOND_LEASE_MS = 500;
/** A thawed invocation may go on for so long before the platform kills it. */
const AFTER_THAW_MS = 1000;

/** Returns what happened, and the answer of the invocation; null if it was killed before. */
export async function invoke(
  container: ContainerProcess,
  invocation: number,
  { killAfterMs, freezeAfterMs }: Fate,
  { invocationMs, leaseMs }: InvocationPlan,
): Promise<{ readonly record: InvocationRecord; readonly answer: Answer | null }> {
  const startedAtMs = machineMs();
  const hasEnded = new AbortController();
  let overranAtMs: number | null = null;
  let frozenMs: InvocationRecord["frozenMs"] = null;

  /** Calls `act` so long after the start, unless the invocation has ended by then. */
  async function after(ms: number, act: () => unknown): Promise<void> {
    const leftMs = Math.max(0, startedAtMs + ms - machineMs());
    await sleep(leftMs, undefined, { signal: hasEnded.signal }).then(act, () => {});
  }
  function overrun(): void {
    overranAtMs = container.signal("SIGKILL");
  }
  async function freeze(): Promise<void> {
    const fromMs = container.signal("SIGSTOP");
    await sleep(leaseMs + BEYOND_LEASE_MS);
    frozenMs = [fromMs, container.signal("SIGCONT")];
    await after(machineMs() - startedAtMs + AFTER_THAW_MS, overrun);
  }

  const killing = killAfterMs === null ? null : sleep(killAfterMs).then(() => container.signal("SIGKILL"));
  const ending = freezeAfterMs === null ? after(invocationMs, overrun) : after(freezeAfterMs, freeze);
  const answer = await container.invoke({ invocation, deadline: Date.now() + invocationMs });
  hasEnded.abort();
  // The kill of an invocation that has ended hits a process that does nothing.
  const [killMs] = await Promise.all([killing, ending]);
  const isKilled = answer === null && killMs !== null && killMs <= (overranAtMs ?? killMs);
  const record = {
    ...{ invocation, frozenMs, error: answer?.error ?? null },
    killedAtMs: isKilled ? killMs : null,
    overranAtMs: isKilled ? null : overranAtMs,
  };
  return { record, answer };
}
