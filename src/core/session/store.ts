/** The operations of the protocol as methods, for the producer and the worker. */

import { InvalidArgument } from "../errors/errors.ts";
import type { Executor } from "../executor.ts";
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
import { fenceOperation } from "../operations/fence.ts";
import { taskBytesPerResponse } from "../operations/large-tasks.ts";
import type { LeaseRef, LeaseRenewal } from "../operations/lease.ts";
import { checkLeases, type ProgressReport, renewLeases, updateProgress } from "../operations/lease.ts";
import { asResend, combineTwo, type Operation, type SqlTarget } from "../operations/operation.ts";
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
import { show } from "../validate.ts";
import type { OperationOptions } from "./operation-options.ts";
import { inPages } from "./pages.ts";
import { checkRetryPolicy, type RetryPolicy } from "./retry-policy.ts";
import { Session } from "./session.ts";

export interface StoreOptions {
  /**
   * How an operation is sent again when the database is busy, unreachable, or did not answer.
   * @default { tries: 6, baseMs: 50, capMs: 1000 }
   */
  readonly requestRetry?: Partial<RetryPolicy> | undefined;
  /** Replaces the clock of the database, in epoch milliseconds. For tests only. */
  readonly clock?: (() => number) | undefined;
}

/** Every operation of the protocol on one database, each of them one round trip. Arguments must have been checked. */
export class Store {
  readonly session: Session;
  /** Bytes of JSON that a settle or submit statement may carry. */
  readonly maxBytes: number;
  /** Bytes of a response that claimed tasks may take; null: unlimited. */
  readonly #claimBytes: number | null;

  /** @throws {InvalidArgument} if a number of the retry policy is out of range. */
  constructor(executor: Executor, { requestRetry, clock }: StoreOptions = {}) {
    const policy = checkRetryPolicy(requestRetry);
    if (clock !== undefined && typeof clock !== "function") {
      throw new InvalidArgument(
        `clock must be a function that returns epoch milliseconds, got ${show(clock)}`,
      );
    }
    this.session = new Session(executor, policy, clock);
    this.maxBytes = executor.limits.maxParamBytes;
    this.#claimBytes = taskBytesPerResponse(executor.limits.maxResponseBytes);
  }

  #run<Args extends unknown[], T>(
    build: (target: SqlTarget, ...args: Args) => Operation<T>,
    args: Args,
    call?: OperationOptions,
  ): Promise<T> {
    return this.session.execute(build(this.session.target, ...args), call);
  }

  /**
   * With a parent, the tasks are refused with `LostLease` once its lease is lost.
   *
   * @param isResent Whether the same was sent before and may have been committed: then its effect is found again.
   */
  submit(
    tasks: readonly NewTask[],
    call?: OperationOptions,
    parent?: LeaseRef,
    isResent = false,
  ): Promise<SubmittedTask[]> {
    const { target } = this.session;
    const submission = submit(target, tasks, isResent);
    return this.session.execute(
      parent === undefined ? submission : fenceOperation(target, parent, submission),
      call,
    );
  }

  get(ref: TaskRef, call?: OperationOptions): Promise<Task | null> {
    return this.#run(getTask, [ref], call);
  }

  /** In as many requests as their answers need. */
  getMany(ids: readonly string[], call?: OperationOptions): Promise<Task[]> {
    return inPages(0, ids.length, (first, count) =>
      this.#run(getTasks, [ids.slice(first, first + count)], call),
    );
  }

  getStatus(ref: TaskRef, call?: OperationOptions): Promise<TaskState | null> {
    return this.#run(getStatus, [ref], call);
  }

  getStates(refs: TaskRefs, call?: OperationOptions): Promise<RefState[]> {
    return this.#run(getStates, [refs], call);
  }

  failures(id: string, call?: OperationOptions): Promise<TaskFailure[]> {
    return this.#run(listFailures, [id], call);
  }

  /** In as many requests as their answers need. Tasks that were submitted between two of them are not listed twice. */
  async list(filter: ListFilter, call?: OperationOptions): Promise<Task[]> {
    const { skip_tasks, max_tasks } = filter;
    const tasks = await inPages(skip_tasks, max_tasks, (first, count) =>
      this.#run(listTasks, [{ ...filter, skip_tasks: first, max_tasks: count }], call),
    );
    return [...new Map(tasks.map((task) => [task.id, task])).values()];
  }

  stats(queues: readonly string[] | null, call?: OperationOptions): Promise<Record<string, StatusCounts>> {
    return this.#run(stats, [queues], call);
  }

  queueDepth(queue: string, call?: OperationOptions): Promise<number> {
    return this.#run(queueDepth, [queue], call);
  }

  queueHeadroom(queue: string, maxDepth: number, call?: OperationOptions): Promise<number> {
    return this.#run(queueHeadroom, [queue, maxDepth], call);
  }

  cancel(ref: TaskRef, call?: OperationOptions): Promise<CanceledTask | null> {
    return this.#run(cancelTask, [ref], call);
  }

  retry(ref: TaskRef, resetAttempt: boolean, call?: OperationOptions): Promise<RetriedTask | null> {
    return this.#run(retryTask, [ref, resetAttempt], call);
  }

  purge(filter: PurgeFilter, call?: OperationOptions): Promise<number> {
    return this.#run(purgeTasks, [filter], call);
  }

  /** @param options.limit Most tasks to delete for each rule and status. */
  async sweep(
    rules: Retention,
    { limit }: { readonly limit: number },
    call?: OperationOptions,
  ): Promise<SweepResult> {
    if (rules.length === 0) return { purged: 0, more: false };
    return this.#run(sweepTasks, [rules, limit], call);
  }

  claim(request: ClaimRequest, call?: OperationOptions): Promise<ClaimResult> {
    return this.session.execute(claim(this.session.target, request, this.#claimBytes), call);
  }

  heartbeat(leases: readonly LeaseRef[], leaseMs: number, call?: OperationOptions): Promise<LeaseRenewal[]> {
    return this.#run(renewLeases, [leases, leaseMs], call);
  }

  /** Reads which of these leases are still held, and whether a cancel of their tasks was requested. */
  checkLeases(leases: readonly LeaseRef[], call?: OperationOptions): Promise<LeaseRenewal[]> {
    return this.#run(checkLeases, [leases], call);
  }

  progress(lease: LeaseRef, report: ProgressReport, call?: OperationOptions): Promise<LeaseRenewal | null> {
    return this.#run(updateProgress, [lease, report], call);
  }

  /** @param resent Whether the same was sent before and may have been committed: then its effect is found again. */
  settle(
    settlements: readonly (Settlement | Start)[],
    call?: OperationOptions,
    resent = false,
  ): Promise<SettleResult[]> {
    const operation = settle(this.session.target, settlements, this.maxBytes);
    return this.session.execute(resent ? asResend(operation) : operation, call);
  }

  /**
   * The round trip of a drain: settles attempts that ended and claims tasks for the free slots.
   *
   * @param resent Whether the same was sent before and may have been committed: then its effect is found again.
   */
  settleAndClaim(
    settlements: readonly (Settlement | Start)[],
    request: ClaimRequest,
    call?: OperationOptions,
    resent = false,
  ): Promise<[settled: SettleResult[], claimed: ClaimResult]> {
    const { target } = this.session;
    const settling = settle(target, settlements, this.maxBytes);
    const operation = combineTwo("settleAndClaim", settling, claim(target, request, this.#claimBytes));
    return this.session.execute(resent ? asResend(operation) : operation, call);
  }
}
