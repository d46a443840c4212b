import type { RecoveredTask } from "../../core/operations/claim-result.ts";
import type { Settlement, SettleResult } from "../../core/operations/settle.ts";
import type { QueryMeter } from "../../core/session/query-meter.ts";
import { isTerminal, type TaskStatus } from "../../core/task.ts";
import type { DrainSummary } from "../drain-summary.ts";
import type { Attempt } from "../handler/attempt.ts";
import { type ClaimTiming, emit, type RunTiming, type TaskEvent, type WorkerEvent } from "../hooks.ts";
import { crashLine, failureLine, log } from "../logger.ts";
import type { DrainSettings } from "./drain-settings.ts";
import type { NextDue } from "./queue-snapshot.ts";
import { TaskSkips } from "./skipped-tasks.ts";

type Failed = Extract<Settlement, { outcome: "retry" }>;
type Released = Extract<Settlement, { outcome: "release" }>;

/**
 * Counts what happened to the tasks of a drain, and reports it: to hooks, to the logger, and to waits of the same
 * Wadi.
 */
export class DrainReporter {
  readonly unclaimed: TaskSkips;
  readonly #counts = {
    ...{ claimed: 0, succeeded: 0, failed: 0, retried: 0, released: 0, snoozed: 0, canceled: 0 },
    ...{ recovered: 0, lost: 0, roundTrips: 0 },
  };
  readonly #settings: Pick<DrainSettings, "wadi" | "hooks">;
  readonly #meter: QueryMeter;

  constructor(settings: Pick<DrainSettings, "wadi" | "hooks" | "skipped">, meter: QueryMeter) {
    const { hooks, skipped } = settings;
    this.#settings = settings;
    this.#meter = meter;
    this.unclaimed = new TaskSkips(hooks.logger, skipped);
  }

  get claimedTasks(): number {
    return this.#counts.claimed;
  }

  get roundTrips(): number {
    return this.#counts.roundTrips;
  }

  roundTrip(): void {
    this.#counts.roundTrips++;
  }

  /** Emits the event that `make` returns; without a hook that listens, none is made. */
  #emit(make: () => WorkerEvent): void {
    const { hooks } = this.#settings;
    if (hooks.onEvent !== undefined) emit(hooks, make());
  }

  claimed(attempt: Attempt): void {
    this.#counts.claimed++;
    this.#emit(() => ({ type: "claimed", ...about(attempt) }));
  }

  started(attempt: Attempt): void {
    this.#emit(() => ({ type: "started", ...about(attempt) }));
  }

  lost(attempt: Attempt): void {
    this.#counts.lost++;
    attempt.settlementResult.resolve(null);
    this.#emit(() => ({ type: "lostLease", ...ran(attempt) }));
  }

  recovered(tasks: readonly RecoveredTask[]): void {
    const { hooks, wadi } = this.#settings;
    if (tasks.some(({ status }) => status === "failed")) wadi.hint?.touch(); // `onFailed` may have queued a task
    this.#counts.recovered += tasks.length;
    for (const task of tasks) if (task.status === "failed") log(hooks.logger, "error", crashLine(task));
    for (const task of tasks) this.#emit(() => ({ type: "recovered", ...task }));
  }

  /** Expired tasks were ended: waits of this process for them are over. */
  expired(ids: readonly string[]): void {
    if (ids.length > 0) this.#settings.wadi.notifier.done(ids);
  }

  /** The database has answered to the settlement of `attempts`. */
  settled(attempts: readonly Attempt[], settled: readonly SettleResult[]): void {
    const done: string[] = [];
    const queues = new Set<string>();
    for (let i = 0; i < attempts.length; i++) {
      const attempt = attempts[i]!;
      const { status } = settled[i]!;
      if (status === null) {
        this.lost(attempt);
        continue;
      }
      attempt.settlementResult.resolve(status);
      this.#settle(attempt, status);
      if (isTerminal(status)) done.push(attempt.id);
      else if ((attempt.settlement as { delayMs?: number } | null)?.delayMs === 0)
        queues.add(attempt.task.queue);
    }
    const { notifier } = this.#settings.wadi;
    if (done.length > 0) notifier.done(done);
    if (queues.size > 0) notifier.queued([...queues]);
  }

  #settle(attempt: Attempt, status: TaskStatus): void {
    const { hooks, wadi } = this.#settings;
    const { settlement } = attempt;
    const type =
      status === "queued" ? requeueOf(settlement) : (status as "succeeded" | "failed" | "canceled");
    this.#counts[type]++;
    if (type === "failed") {
      wadi.hint?.touch();
      log(hooks.logger, "error", failureLine(attempt.task, (settlement as Failed).error));
    }
    this.#emit(() => {
      if (type === "snoozed") return { type, ...ran(attempt), delayMs: (settlement as Released).delayMs };
      if (type !== "failed" && type !== "retried") return { type, ...ran(attempt) };
      const { error, delayMs = 0 } = settlement as Failed;
      const event = { ...ran(attempt), error };
      return type === "failed" ? { type, ...event } : { type, ...event, delayMs };
    });
  }

  summary({ nextDueAtMs, nowMs }: NextDue): DrainSummary {
    const { unhandled, skipped } = this.unclaimed;
    return {
      ...this.#counts,
      queries: this.#meter.sent,
      unhandled,
      skipped,
      more: nextDueAtMs !== null && nextDueAtMs <= nowMs,
      nextDueAtMs,
    };
  }

  /** Nothing is left: returns the summary, and reports it. */
  drained(next: NextDue): DrainSummary {
    const summary = this.summary(next);
    this.#emit(() => ({ type: "drained", summary }));
    return summary;
  }
}

/** Why a task was queued again: only a snooze releases it with a delay. */
function requeueOf(settlement: Settlement | null): "released" | "snoozed" | "retried" {
  if (settlement?.outcome !== "release") return "retried";
  return settlement.delayMs > 0 ? "snoozed" : "released";
}

function about({ task: { id, name, queue, attempt }, queuedMs }: Attempt): TaskEvent & ClaimTiming {
  return { id, name, queue, attempt, queuedMs };
}

function ran(attempt: Attempt): TaskEvent & RunTiming {
  return { ...about(attempt), durationMs: attempt.durationMs };
}
