/** How a drain waits. */

import { NEVER } from "../../core/infinity.ts";
import { monotonicMs } from "../../core/monotonic-clock.ts";
import { MAX_TIMER_MS } from "../../core/timers.ts";
import { report } from "../hooks.ts";
import type { DrainSettings } from "./drain-settings.ts";
import { PollSchedule } from "./poll-schedule.ts";

/** Pause of a continuous drain while the database announces new tasks, in case a notification is lost. */
const SAFETY_POLL_MS = 30_000;
/** First pause of a short drain: handlers that run may be waiting for tasks that they submitted elsewhere. */
const FIRST_POLL_MS = 100;

/** What a drain does when queues got tasks; null: it is unknown which. Returns whether the drain is to be woken. */
interface QueuedListener {
  notifyQueued(queues: readonly string[] | null): boolean;
}

/** What a drain does when running tasks were canceled; null: it is unknown which. */
interface CanceledListener {
  notifyCanceled(ids: readonly string[] | null): void;
}

/**
 * How a drain waits, in every state: until a time, or until something wakes it sooner. An answer, the end of a task,
 * a notification and an abort wake it. Polls replace the notifications that a database does not send.
 *
 * A continuous drain opens a connection that listens. A short drain only uses connections that others opened; it polls
 * sooner, and not at all where the database announces new tasks.
 */
export class Waiting {
  readonly #settings: DrainSettings;
  #resolve: (() => void) | null = null;
  /** Whether it was woken while the drain did not wait. */
  #isDue = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerAtMs = NEVER;

  constructor(settings: DrainSettings) {
    this.#settings = settings;
  }

  /** Ends the wait, or the next one if the drain does not wait now. */
  readonly wake = (): void => {
    if (this.#resolve === null) this.#isDue = true;
    else this.#resolve();
    this.#resolve = null;
  };

  /**
   * Resolves at `atMs` (on the monotonic clock) or when it is woken. It may resolve sooner: an earlier timer is kept,
   * since a new one costs more.
   */
  until(atMs: number): Promise<void> {
    if (this.#isDue) {
      this.#isDue = false;
      return Promise.resolve();
    }
    if (atMs < this.#timerAtMs) this.#wakeAt(atMs);
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  #wakeAt(atMs: number): void {
    this.close();
    this.#timerAtMs = atMs;
    const fire = () => {
      this.#timerAtMs = NEVER;
      this.wake();
    };
    this.#timer = setTimeout(fire, Math.min(Math.max(0, atMs - monotonicMs()), MAX_TIMER_MS));
  }

  /** Wakes the drain on notifications and on an abort, until the returned function is called. */
  listen(cycles: QueuedListener, sender: CanceledListener): () => void {
    const { continuous, hooks, signal, wadi } = this.#settings;
    const { notifier } = wadi;
    const queued = (queues: readonly string[] | null, error?: unknown) => {
      if (error !== undefined) report(hooks, error, "listen");
      if (cycles.notifyQueued(queues)) this.wake();
    };
    const canceled = (ids: readonly string[] | null) => {
      sender.notifyCanceled(ids);
      this.wake();
    };
    signal?.addEventListener("abort", this.wake);
    const isShort = continuous === null;
    const unsubscribeQueued = notifier.onQueued(queued, isShort);
    const unsubscribeCanceled = notifier.onCanceled(canceled, isShort);
    return () => {
      unsubscribeQueued();
      unsubscribeCanceled();
      signal?.removeEventListener("abort", this.wake);
    };
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timerAtMs = NEVER;
  }
}

/** The polls of a drain. */
export function pollsOf({ continuous, wadi, pollMs, maxPollMs }: DrainSettings): PollSchedule {
  const isAnnounced = () => wadi.notifier.announcesQueued;
  const isShort = continuous === null;
  return new PollSchedule({
    firstMs: isShort ? Math.min(FIRST_POLL_MS, maxPollMs) : pollMs,
    maxMs: maxPollMs,
    growth: isShort ? 2 : 1.5,
    announcedMs: isShort ? NEVER : SAFETY_POLL_MS,
    isAnnounced,
  });
}
