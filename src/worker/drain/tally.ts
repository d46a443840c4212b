import type { ClaimResult, RecoveredTask } from "../../core/operations/claim-result.ts";
import type { Settlement, SettleResult } from "../../core/operations/settle.ts";
import type { QueryMeter } from "../../core/session/query-meter.ts";
import { isTerminal, type TaskStatus } from "../../core/task.ts";
import type { Wadi } from "../../producer/wadi.ts";
import type { DrainSummary } from "../drain-summary.ts";
import type { Attempt } from "../handler/attempt.ts";
import { emit, type TaskEvent, type WorkerHooks } from "../hooks.ts";
import { crashLine, failureLine, log } from "../logger.ts";
import { LeftOut } from "./skipped-tasks.ts";

type Failed = Extract<Settlement, { outcome: "retry" }>;

/** Counts what became of tasks, and tells those who listen: hooks of the application, and waits of the same Wadi. */
export class Tally {
  claimed = 0;
  succeeded = 0;
  failed = 0;
  retried = 0;
  released = 0;
  canceled = 0;
  recovered = 0;
  lost = 0;
  roundTrips = 0;
  readonly leftOut: LeftOut;
  readonly #wadi: Wadi;
  readonly #hooks: WorkerHooks;
  readonly #meter: QueryMeter;
  /** Whether anybody listens: an event that nobody gets is not made. */
  readonly #tells: boolean;

  constructor(wadi: Wadi, hooks: WorkerHooks, meter: QueryMeter) {
    this.#wadi = wadi;
    this.#hooks = hooks;
    this.#meter = meter;
    this.leftOut = new LeftOut(hooks.logger);
    this.#tells = hooks.onEvent !== undefined;
  }

  claim(attempt: Attempt): void {
    this.claimed++;
    if (this.#tells) emit(this.#hooks, { type: "claimed", ...about(attempt), queuedMs: attempt.queuedMs });
  }

  start(attempt: Attempt): void {
    if (this.#tells) emit(this.#hooks, { type: "started", ...about(attempt), queuedMs: attempt.queuedMs });
  }

  lose(attempt: Attempt): void {
    this.lost++;
    attempt.settlementResult.resolve(null);
    if (this.#tells) emit(this.#hooks, { type: "lostLease", ...ran(attempt) });
  }

  recover(tasks: readonly RecoveredTask[]): void {
    this.recovered += tasks.length;
    for (const task of tasks) if (task.status === "failed") log(this.#hooks.logger, "error", crashLine(task));
    for (const task of this.#tells ? tasks : []) emit(this.#hooks, { type: "recovered", ...task });
  }

  /** What the database says became of settled attempts. */
  settle(attempts: readonly Attempt[], settled: readonly SettleResult[]): void {
    const done: string[] = [];
    const queues = new Set<string>();
    for (let i = 0; i < attempts.length; i++) {
      const attempt = attempts[i]!;
      const { status } = settled[i]!;
      if (status === null) {
        this.lose(attempt);
        continue;
      }
      attempt.settlementResult.resolve(status);
      this.#count(attempt, status);
      if (isTerminal(status)) done.push(attempt.id);
      else if ((attempt.settlement as { delayMs?: number } | null)?.delayMs === 0)
        queues.add(attempt.task.queue);
    }
    if (done.length > 0) this.#wadi.signals.done(done);
    if (queues.size > 0) this.#wadi.signals.queued([...queues]);
  }

  #count(attempt: Attempt, status: TaskStatus): void {
    const { settlement } = attempt;
    const was = settlement?.outcome === "release" ? "released" : "retried";
    const type = status === "queued" ? was : (status as "succeeded" | "failed" | "canceled");
    this[type]++;
    if (type === "failed")
      log(this.#hooks.logger, "error", failureLine(attempt.task, (settlement as Failed).error));
    if (!this.#tells) return;
    if (type === "failed" || type === "retried") {
      const { error, delayMs = 0 } = settlement as Failed;
      const told = { ...ran(attempt), error };
      emit(this.#hooks, type === "failed" ? { type, ...told } : { type, ...told, delayMs });
    } else emit(this.#hooks, { type, ...ran(attempt) });
  }

  summary({ nextDueAtMs, nowMs }: Pick<ClaimResult, "nextDueAtMs" | "nowMs">): DrainSummary {
    const { claimed, succeeded, failed, retried, released, canceled, recovered, lost, roundTrips } = this;
    const queries = this.#meter.sent;
    const counts = {
      claimed,
      succeeded,
      failed,
      retried,
      released,
      canceled,
      recovered,
      lost,
      roundTrips,
      queries,
    };
    const { unhandled, skipped } = this.leftOut;
    return { ...counts, unhandled, skipped, more: nextDueAtMs !== null && nextDueAtMs <= nowMs, nextDueAtMs };
  }

  drained(next: Pick<ClaimResult, "nextDueAtMs" | "nowMs">): DrainSummary {
    const summary = this.summary(next);
    if (this.#tells) emit(this.#hooks, { type: "drained", summary });
    return summary;
  }
}

function about({ task: { id, name, queue, attempt } }: Attempt): TaskEvent {
  return { id, name, queue, attempt };
}

function ran(attempt: Attempt): TaskEvent & { readonly queuedMs: number; readonly durationMs: number } {
  const { queuedMs, durationMs } = attempt;
  return { ...about(attempt), queuedMs, durationMs };
}
