/** How a drain waits. */

import { NEVER } from "../../core/infinity.ts";
import { report } from "../hooks.ts";
import type { DrainSettings } from "./drain-settings.ts";
import { PollSchedule } from "./poll-schedule.ts";
import { Wakeup } from "./wakeup.ts";

/** Pause of a continuous drain while the database announces new tasks, in case a notification is lost. */
const SAFETY_POLL_MS = 30_000;
/** First pause of a short drain: handlers that run may be waiting for tasks that they submitted elsewhere. */
const FIRST_POLL_MS = 100;

/** What a drain does when it is notified. */
export interface Listeners {
  /** Queues got tasks; null: it is unknown which. Returns whether the drain is to be woken. */
  onQueued(queues: readonly string[] | null): boolean;
  /** Running tasks were canceled; null: it is unknown which. */
  onCanceled(ids: readonly string[] | null): void;
}

/**
 * How a drain waits, in every state: until a time, or until something wakes it sooner. An answer, the end of a task,
 * a notification and an abort wake it. Polls replace the notifications that a database does not send.
 *
 * A continuous drain opens a connection that listens. A short drain only uses connections that others opened; it polls
 * sooner, and not at all where the database announces new tasks.
 */
export class Waiting {
  readonly polls: PollSchedule;
  readonly #settings: DrainSettings;
  readonly #wakeup = new Wakeup();

  constructor(settings: DrainSettings) {
    this.#settings = settings;
    this.polls = pollsOf(settings);
  }

  /** Ends the wait, or the next one if the drain does not wait now. */
  readonly wake: () => void = this.#wakeup.wake;

  /** Resolves at `atMs` (on the monotonic clock) or when it is woken; rarely sooner, so check the time. */
  readonly until = (atMs: number): Promise<void> => this.#wakeup.until(atMs);

  /** Wakes the drain on notifications and on an abort, until the returned function is called. */
  listen({ onQueued, onCanceled }: Listeners): () => void {
    const { continuous, hooks, signal, wadi } = this.#settings;
    const { notifier } = wadi;
    const queued = (queues: readonly string[] | null, error?: unknown) => {
      if (error !== undefined) report(hooks, error, "listen");
      if (onQueued(queues)) this.wake();
    };
    const canceled = (ids: readonly string[] | null) => {
      onCanceled(ids);
      this.wake();
    };
    signal?.addEventListener("abort", this.wake);
    const isShort = continuous === null;
    const unsubscribeQueued = isShort ? notifier.onQueuedPassive(queued) : notifier.onQueued(queued);
    const unsubscribeCanceled = isShort
      ? notifier.onCanceledPassive(canceled)
      : notifier.onCanceled(canceled);
    return () => {
      unsubscribeQueued();
      unsubscribeCanceled();
      signal?.removeEventListener("abort", this.wake);
    };
  }

  close(): void {
    this.#wakeup.clear();
  }
}

function pollsOf({ continuous, wadi, pollMs, maxPollMs }: DrainSettings): PollSchedule {
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
