import { InvalidArgument } from "../errors/errors.ts";
import type { Executor } from "../executor.ts";
import { fenced } from "../fence.ts";
import { again, join, type Operation, type Target } from "../operation.ts";
import { type ClaimRequest, claim } from "../operations/claim.ts";
import type { ClaimResult } from "../operations/claim-result.ts";
import {
  type CanceledTask,
  cancelTask,
  type PurgeFilter,
  purgeTasks,
  type Retention,
  type RetriedTask,
  retryTask,
  type SweepResult,
  sweepTasks,
} from "../operations/control.ts";
import { taskBytesPerResponse } from "../operations/large-tasks.ts";
import type { LeaseRef, LeaseRenewal } from "../operations/lease.ts";
import { checkLeases, type ProgressReport, renewLeases, updateProgress } from "../operations/lease.ts";
import {
  getStates,
  getStatus,
  getTask,
  getTasks,
  type ListFilter,
  listFailures,
  listTasks,
  queueDepth,
  queueHeadroom,
  type RefState,
  type StatusCounts,
  stats,
  type TaskRef,
  type TaskRefs,
  type TaskState,
} from "../operations/read.ts";
import { type Settlement, type SettleResult, type Start, settle } from "../operations/settle.ts";
import { type NewTask, type SubmittedTask, submit } from "../operations/submit.ts";
import type { Task, TaskFailure } from "../task.ts";
import { integer, MAX_TIMER_MS, show } from "../validate.ts";
import { inPages } from "./pages.ts";
import { type CallOptions, type RetryPolicy, Session } from "./session.ts";

export interface StoreOptions {
  /**
   * How an operation is sent again when the database is busy, out of reach, or gave no answer.
   * @default { tries: 6, baseMs: 50, capMs: 1000 }
   */
  readonly requestRetry?: Partial<RetryPolicy> | undefined;
  /** Stands in for the database's clock, in epoch milliseconds. For tests only. */
  readonly clock?: (() => number) | undefined;
}

/** Every operation of the protocol on one database, each one round trip. Arguments are taken as checked. */
export class Store extends Session {
  /** Room a settle or submit statement may fill with JSON. */
  readonly maxBytes: number;
  /** Room an answer has for tasks; null: as much as it takes. */
  readonly #answerBytes: number | null;

  /** @throws {InvalidArgument} if a number of the retry policy is out of range. */
  constructor(executor: Executor, { requestRetry, clock }: StoreOptions = {}) {
    const policy = {
      tries: integer("requestRetry.tries", requestRetry?.tries ?? 6, 1, 1000),
      baseMs: integer("requestRetry.baseMs", requestRetry?.baseMs ?? 50, 0, MAX_TIMER_MS),
      capMs: integer("requestRetry.capMs", requestRetry?.capMs ?? 1000, 0, MAX_TIMER_MS),
    };
    if (clock !== undefined && typeof clock !== "function") {
      throw new InvalidArgument(
        `clock must be a function that returns epoch milliseconds, got ${show(clock)}`,
      );
    }
    super(executor, policy, clock);
    this.maxBytes = executor.limits.maxParamBytes;
    this.#answerBytes = taskBytesPerResponse(executor.limits.maxResponseBytes);
  }

  #run<Args extends unknown[], T>(
    build: (target: Target, ...args: Args) => Operation<T>,
    args: Args,
    call?: CallOptions,
  ): Promise<T> {
    return this.execute(build(this.target, ...args), call);
  }

  /**
   * With a parent the tasks are refused with `LostLease` once its lease is gone.
   *
   * @param isResent Whether the same was sent before and may have been committed: then what it did is found again.
   */
  submit(
    tasks: readonly NewTask[],
    call?: CallOptions,
    parent?: LeaseRef,
    isResent = false,
  ): Promise<SubmittedTask[]> {
    const { target } = this;
    const submission = submit(target, tasks, isResent);
    return this.execute(parent === undefined ? submission : fenced(target, parent, submission), call);
  }

  get(ref: TaskRef, call?: CallOptions): Promise<Task | null> {
    return this.#run(getTask, [ref], call);
  }

  /** In as many requests as their answers need. */
  getMany(ids: readonly string[], call?: CallOptions): Promise<Task[]> {
    return inPages(0, ids.length, (first, count) =>
      this.#run(getTasks, [ids.slice(first, first + count)], call),
    );
  }

  getStatus(ref: TaskRef, call?: CallOptions): Promise<TaskState | null> {
    return this.#run(getStatus, [ref], call);
  }

  getStates(refs: TaskRefs, call?: CallOptions): Promise<RefState[]> {
    return this.#run(getStates, [refs], call);
  }

  failures(id: string, call?: CallOptions): Promise<TaskFailure[]> {
    return this.#run(listFailures, [id], call);
  }

  /** In as many requests as their answers need. Tasks that were submitted between two of them are not listed twice. */
  async list(filter: ListFilter, call?: CallOptions): Promise<Task[]> {
    const { skip_tasks, max_tasks } = filter;
    const tasks = await inPages(skip_tasks, max_tasks, (first, count) =>
      this.#run(listTasks, [{ ...filter, skip_tasks: first, max_tasks: count }], call),
    );
    return [...new Map(tasks.map((task) => [task.id, task])).values()];
  }

  stats(queues: readonly string[] | null, call?: CallOptions): Promise<Record<string, StatusCounts>> {
    return this.#run(stats, [queues], call);
  }

  queueDepth(queue: string, call?: CallOptions): Promise<number> {
    return this.#run(queueDepth, [queue], call);
  }

  queueHeadroom(queue: string, maxDepth: number, call?: CallOptions): Promise<number> {
    return this.#run(queueHeadroom, [queue, maxDepth], call);
  }

  cancel(ref: TaskRef, call?: CallOptions): Promise<CanceledTask | null> {
    return this.#run(cancelTask, [ref], call);
  }

  retry(ref: TaskRef, resetAttempt: boolean, call?: CallOptions): Promise<RetriedTask | null> {
    return this.#run(retryTask, [ref, resetAttempt], call);
  }

  purge(filter: PurgeFilter, call?: CallOptions): Promise<number> {
    return this.#run(purgeTasks, [filter], call);
  }

  /** @param options.limit Most tasks to delete for each rule and status. */
  async sweep(
    rules: Retention,
    { limit }: { readonly limit: number },
    call?: CallOptions,
  ): Promise<SweepResult> {
    if (rules.length === 0) return { purged: 0, more: false };
    return this.#run(sweepTasks, [rules, limit], call);
  }

  claim(request: ClaimRequest, call?: CallOptions): Promise<ClaimResult> {
    return this.execute(claim(this.target, request, this.#answerBytes), call);
  }

  heartbeat(held: readonly LeaseRef[], leaseMs: number, call?: CallOptions): Promise<LeaseRenewal[]> {
    return this.#run(renewLeases, [held, leaseMs], call);
  }

  /** Those of these leases that are held, and whether their tasks were asked to stop. */
  held(held: readonly LeaseRef[], call?: CallOptions): Promise<LeaseRenewal[]> {
    return this.#run(checkLeases, [held], call);
  }

  progress(held: LeaseRef, report: ProgressReport, call?: CallOptions): Promise<LeaseRenewal | null> {
    return this.#run(updateProgress, [held, report], call);
  }

  /** @param resent Whether the same was sent before and may have been committed: then what it did is found again. */
  settle(
    settlements: readonly (Settlement | Start)[],
    call?: CallOptions,
    resent = false,
  ): Promise<SettleResult[]> {
    const operation = settle(this.target, settlements, this.maxBytes);
    return this.execute(resent ? again(operation) : operation, call);
  }

  /**
   * The round trip of a drain: settles what finished and claims into the free slots.
   *
   * @param resent Whether the same was sent before and may have been committed: then what it did is found again.
   */
  cycle(
    settlements: readonly (Settlement | Start)[],
    request: ClaimRequest,
    call?: CallOptions,
    resent = false,
  ): Promise<[settled: SettleResult[], claimed: ClaimResult]> {
    const { target } = this;
    const settling = settle(target, settlements, this.maxBytes);
    const operation = join("cycle", settling, claim(target, request, this.#answerBytes));
    return this.execute(resent ? again(operation) : operation, call);
  }
}
