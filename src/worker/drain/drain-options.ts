import type { Backoff } from "../../core/backoff.ts";
import type { SizeTracking } from "../../core/operations/large-tasks.ts";
import type { Wadi } from "../../producer/wadi.ts";
import type { Registration } from "../handler/registration.ts";
import type { WorkerHooks } from "../hooks.ts";
import type { ByteLimits } from "./byte-budget.ts";
import { PollSchedule } from "./poll-schedule.ts";
import type { PoolSizes } from "./slot-pool.ts";
import type { Unreturned } from "./unreturned-calls.ts";

/** What makes a drain go on when nothing is due. */
export interface ContinuousMode {
  /** Aborts to stop: nothing is claimed any more, what has not started is released, and handlers may finish. */
  readonly signal: AbortSignal;
  /** How long handlers may go on after the stop before they are aborted, in milliseconds. */
  readonly graceMs: number;
}

/** What a drain is to do. */
export interface DrainSettings extends PoolSizes, ByteLimits {
  readonly wadi: Wadi;
  readonly hooks: WorkerHooks;
  readonly registrations: readonly Registration[];
  /** Names that it leaves out because their declared runs are longer. */
  readonly skipped: readonly string[];
  readonly leaseMs: number;
  readonly backoff: Backoff;
  /** Begins every lease token. */
  readonly name: string;
  /** When it must be over, on the monotonic clock, as all times of a drain are; `Infinity` if it is endless. */
  readonly deadlineMs: number;
  /** Time kept at the end to settle what was stopped, in milliseconds. */
  readonly reserveMs: number;
  readonly maxTasks: number;
  /** How often it asks whether tasks that run were canceled, in milliseconds. */
  readonly cancelPollMs: number;
  /** Most statements it sends; `Infinity`: no limit. */
  readonly maxQueries: number;
  /** First and longest pause between two polls of an endless drain, in milliseconds. */
  readonly pollMs: number;
  readonly maxPollMs: number;
  /** How long one that is not endless waits for a retry of its own, in milliseconds. */
  readonly lingerMs: number;
  /** Stops the drain as its deadline would. */
  readonly signal: AbortSignal | undefined;
  /** Present if it goes on when nothing is due. */
  readonly endless: ContinuousMode | null;
  /** What one drain of a worker learns and the next one begins with. */
  readonly learned: { limited: boolean; sizes: SizeTracking };
  /** Calls of all drains of a worker that go on although their attempts have ended. */
  readonly unreturned: Unreturned;
}

/** Pause while the database announces new tasks. A notification can be lost without anybody noticing. */
const SAFETY_POLL_MS = 30_000;
/** First pause of a drain that is not endless: handlers that run may be waiting for what they submitted elsewhere. */
const FIRST_POLL_MS = 100;

/** When a drain polls while slots are free. */
export function pollsOf({ endless, wadi, pollMs, maxPollMs }: DrainSettings): PollSchedule {
  const isAnnounced = () => wadi.signals.announcesQueued;
  if (endless !== null) {
    return new PollSchedule({
      firstMs: pollMs,
      maxMs: maxPollMs,
      growth: 1.5,
      announcedMs: SAFETY_POLL_MS,
      isAnnounced,
    });
  }
  const announcedMs = Number.POSITIVE_INFINITY;
  const firstMs = Math.min(FIRST_POLL_MS, maxPollMs);
  return new PollSchedule({ firstMs, maxMs: maxPollMs, growth: 2, announcedMs, isAnnounced });
}
