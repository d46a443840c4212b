/** One call of a bulk operation: the count, then page by page what changes the tasks and reads the next page. */
import {
  type BulkChange,
  type BulkEntry,
  type BulkKind,
  type BulkScope,
  changeListed,
  countBulk,
  selectBulkPage,
} from "../../core/operations/bulk.ts";
import { combineTwo } from "../../core/operations/operation.ts";
import type { OperationOptions } from "../../core/session/operation-options.ts";
import type { WadiInternals } from "../internals.ts";
import { type BulkProgress, encodeCursor } from "./bulk-cursor.ts";

/** What a bulk operation found and did. */
export interface BulkResult {
  /**
   * Tasks that matched when they were counted. The count reads at most 100,000 tasks of each queue and status, or for
   * `cancelMany` of each queue and name; more than that are changed all the same.
   */
  readonly matched: number;
  /** Tasks that this call changed; of a page whose answer was lost, those that its last send changed. */
  readonly changed: number;
  /** Of them, running tasks that were asked to stop; they end when their handlers do. */
  readonly requested: number;
  /** Pass it to go on; null: nothing is left. */
  readonly cursor: string | null;
}

/** Tasks of a page: their ids stay far below the limits on parameters and responses. */
const PAGE = 500;

/** Statements of one round trip, at most: two changes or locks, a page and a guard. */
const STATEMENTS = 4;

export class BulkRun {
  readonly #internals: WadiInternals;
  readonly #kind: BulkKind;
  readonly #scope: BulkScope;
  readonly #resetAttempt: boolean;
  readonly #sends: OperationOptions;

  constructor(
    internals: WadiInternals,
    kind: BulkKind,
    scope: BulkScope,
    resetAttempt: boolean,
    sends: OperationOptions,
  ) {
    this.#internals = internals;
    this.#kind = kind;
    this.#scope = scope;
    this.#resetAttempt = resetAttempt;
    this.#sends = sends;
  }

  /** Counts, unless an earlier call has. */
  async count(from: BulkProgress | null): Promise<BulkResult> {
    const { session } = this.#internals;
    const count = countBulk(session.target, this.#kind, this.#scope);
    const progress = from ?? { ...(await session.execute(count, this.#sends)), position: null };
    return this.#result(progress, [], true);
  }

  /** Changes up to `limit` tasks, and no more than the queries of one invocation allow. */
  async change(from: BulkProgress | null, limit: number): Promise<BulkResult> {
    const { session, executor } = this.#internals;
    const changes: BulkChange[] = [];
    let maxTasks = Math.min(PAGE, limit);
    let [progress, page] = await this.#begin(from, maxTasks);
    const rounds = Math.floor((executor.limits.maxQueries ?? Infinity) / STATEMENTS);
    for (let round = 2; ; round++) {
      const { ids, position, isLast } = pageOf(page, maxTasks, limit - changes.length);
      if (ids.length > 0 || !isLast) {
        maxTasks = Math.min(PAGE, Math.max(1, limit - changes.length - ids.length));
        progress = { ...progress, position: position ?? progress.position };
        const { cutoffMs } = progress;
        const change = changeListed(session.target, this.#kind, this.#scope, {
          ids,
          cutoffMs,
          resetAttempt: this.#resetAttempt,
        });
        const next = this.#select(progress, maxTasks);
        const [changed, entries] = await session.execute(combineTwo(change.name, change, next), this.#sends);
        this.#notify(changed);
        changes.push(...changed);
        page = entries;
      }
      if (page.length === 0 || isLast) return this.#result(progress, changes, false);
      if (changes.length >= limit || round >= rounds) return this.#result(progress, changes, true);
    }
  }

  /** The first page, with the count in the same round trip if there was none. */
  async #begin(from: BulkProgress | null, maxTasks: number): Promise<[BulkProgress, BulkEntry[]]> {
    const { session } = this.#internals;
    const select = this.#select(from, maxTasks);
    if (from !== null) return [from, await session.execute(select, this.#sends)];
    const count = countBulk(session.target, this.#kind, this.#scope);
    const [counted, page] = await session.execute(combineTwo("count", count, select), this.#sends);
    return [{ ...counted, position: null }, page];
  }

  #select(from: BulkProgress | null, maxTasks: number) {
    const { cutoffMs = null, position = null } = from ?? {};
    const { session } = this.#internals;
    return selectBulkPage(session.target, this.#kind, this.#scope, { cutoffMs, position, maxTasks });
  }

  #notify(changed: readonly BulkChange[]): void {
    const { notifier, hint, waker } = this.#internals;
    const idsOf = (status: string) => changed.filter((task) => task.status === status).map(({ id }) => id);
    const [ended, requested] = [idsOf("canceled"), idsOf("running")];
    const queues = new Set(changed.flatMap(({ queue }) => (queue === null ? [] : [queue])));
    if (ended.length > 0) notifier.done(ended);
    if (requested.length > 0) notifier.canceled(requested);
    if (queues.size > 0) {
      notifier.queued([...queues]);
      hint?.touch();
      void waker?.kickQueues([...queues], []);
    }
  }

  #result(progress: BulkProgress, changes: readonly BulkChange[], isMore: boolean): BulkResult {
    return {
      matched: progress.tasks,
      changed: changes.length,
      requested: changes.filter(({ status }) => status === "running").length,
      cursor: isMore ? encodeCursor(this.#kind, this.#scope, progress) : null,
    };
  }
}

/** The tasks of a page to change, at most `limit`, and where the page behind them begins. */
function pageOf(page: readonly BulkEntry[], maxTasks: number, limit: number) {
  const running = page.filter((entry) => entry.position === null);
  const walked = page.filter((entry) => entry.position !== null);
  const ids = running.slice(0, limit).map(({ id }) => id);
  let position: string | null = null;
  let isLast = walked.length < maxTasks && running.length < maxTasks;
  for (const entry of walked) {
    if (entry.matches && ids.length >= limit) {
      isLast = false;
      break;
    }
    if (entry.matches) ids.push(entry.id);
    position = entry.position;
  }
  return { ids, position, isLast: isLast && running.length <= limit };
}
