import type { Executor } from "./executor.ts";
import { cancelTask, type PurgeFilter, purgeTasks, retryTask } from "./operations/control.ts";
import {
  type Claimed,
  type ClaimRequest,
  claim,
  type Held,
  type ProgressReport,
  type Renewed,
  renewLeases,
  updateProgress,
} from "./operations/lease.ts";
import {
  getStatus,
  getTask,
  type ListFilter,
  listTasks,
  queueDepth,
  type StatusCounts,
  stats,
  type TaskRef,
  type TaskStatusOnly,
} from "./operations/read.ts";
import { type Cycled, cycle, type Settled, type Settlement, settle } from "./operations/settle.ts";
import { type NewTask, type Submitted, submit } from "./operations/submit.ts";
import { type CallOptions, type RetryPolicy, Session } from "./session.ts";
import type { Task } from "./task.ts";

export interface StoreOptions {
  readonly retry?: Partial<RetryPolicy>;
  /** Stands in for the database's clock, in epoch milliseconds. For tests only. */
  readonly clock?: () => number;
}

/** Every operation of the protocol on one database, each one round trip. Arguments are taken as checked. */
export class Store {
  readonly session: Session;
  /** Room a settle or submit statement may fill with JSON. */
  readonly maxBytes: number;

  constructor(executor: Executor, { retry, clock }: StoreOptions = {}) {
    this.session = new Session(executor, { tries: 6, baseMs: 50, capMs: 1000, ...retry }, clock);
    this.maxBytes = executor.limits.maxParamBytes;
  }

  get executor(): Executor {
    return this.session.executor;
  }

  submit(tasks: readonly NewTask[], call?: CallOptions): Promise<Submitted[]> {
    return this.session.execute(submit(this.session.target, tasks), call);
  }

  get(ref: TaskRef, call?: CallOptions): Promise<Task | null> {
    return this.session.execute(getTask(this.session.target, ref), call);
  }

  getStatus(ref: TaskRef, call?: CallOptions): Promise<TaskStatusOnly | null> {
    return this.session.execute(getStatus(this.session.target, ref), call);
  }

  list(filter: ListFilter, call?: CallOptions): Promise<Task[]> {
    return this.session.execute(listTasks(this.session.target, filter), call);
  }

  stats(queues: readonly string[] | null, call?: CallOptions): Promise<Record<string, StatusCounts>> {
    return this.session.execute(stats(this.session.target, queues), call);
  }

  queueDepth(queue: string, maxDepth: number, call?: CallOptions): Promise<number> {
    return this.session.execute(queueDepth(this.session.target, queue, maxDepth), call);
  }

  cancel(ref: TaskRef, call?: CallOptions): Promise<Task | null> {
    return this.session.execute(cancelTask(this.session.target, ref), call);
  }

  retry(ref: TaskRef, resetAttempt: boolean, call?: CallOptions): Promise<Task | null> {
    return this.session.execute(retryTask(this.session.target, ref, resetAttempt), call);
  }

  purge(filter: PurgeFilter, call?: CallOptions): Promise<number> {
    return this.session.execute(purgeTasks(this.session.target, filter), call);
  }

  claim(request: ClaimRequest, call?: CallOptions): Promise<Claimed> {
    return this.session.execute(claim(this.session.target, request), call);
  }

  heartbeat(held: readonly Held[], leaseMs: number, call?: CallOptions): Promise<Renewed[]> {
    return this.session.execute(renewLeases(this.session.target, held, leaseMs), call);
  }

  progress(held: Held, report: ProgressReport, call?: CallOptions): Promise<Renewed | null> {
    return this.session.execute(updateProgress(this.session.target, held, report), call);
  }

  settle(settlements: readonly Settlement[], call?: CallOptions): Promise<Settled[]> {
    return this.session.execute(settle(this.session.target, settlements, this.maxBytes), call);
  }

  cycle(settlements: readonly Settlement[], request: ClaimRequest, call?: CallOptions): Promise<Cycled> {
    return this.session.execute(cycle(this.session.target, settlements, request, this.maxBytes), call);
  }
}
