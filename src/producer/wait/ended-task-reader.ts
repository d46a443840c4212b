/** Reads the tasks that waits return. */
import { WadiError } from "../../core/errors/errors.ts";
import type { OperationOptions } from "../../core/session/operation-options.ts";
import type { Store } from "../../core/session/store.ts";
import type { Task } from "../../core/task.ts";
import type { PendingWait, WaitRef } from "./pending-wait.ts";
import { readStates } from "./read-states.ts";
import { SharedRequest } from "./shared-request.ts";

/** Most rows of one read: payloads and results may be large. */
const ROWS = 100;
/** How long a read holds back the next one: its connection may be dead. */
const OVERLAP_MS = 1000;

/** What the reader reports of a request, for the waits that are still open. */
export interface RowListener {
  /** @param task The row; null if there is no such task. */
  onRow(ref: WaitRef, task: Task | null): void;
  onReadError(refs: readonly WaitRef[], error: unknown): void;
}

/**
 * Reads the whole rows of tasks that have ended, many at a time: rows that are requested while a read is in flight
 * share the next one.
 */
export class EndedTaskReader {
  readonly #store: Store;
  readonly #listener: RowListener;
  readonly #requested = new Set<WaitRef>();
  readonly #inFlight = new Set<SharedRequest>();
  #isScheduled = false;
  #busyUntilMs = 0;
  #sent = 0;

  constructor(store: Store, listener: RowListener) {
    this.#store = store;
    this.#listener = listener;
  }

  /** Requests sent so far. */
  get sent(): number {
    return this.#sent;
  }

  /** @param id Its task; null if its key has to be resolved first. */
  add(ref: WaitRef, id: string | null): void {
    ref.requestRow(id, performance.now());
    this.#requested.add(ref);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => this.flush());
  }

  /** Requests a row again that was requested before `sinceMs` and has not come. */
  again(ref: WaitRef, sinceMs: number): void {
    if (ref.rowRequestedAtMs <= sinceMs) this.add(ref, ref.rowId);
  }

  /** The wait is closed. */
  forget(wait: PendingWait): void {
    for (const ref of wait.refs) this.#requested.delete(ref);
    for (const request of this.#inFlight) request.leave(wait);
  }

  /** Sends the rows that are requested, unless a read was sent less than `OVERLAP_MS` ago and is in flight. */
  flush(): void {
    this.#isScheduled = false;
    const nowMs = performance.now();
    if (this.#requested.size === 0 || nowMs < this.#busyUntilMs) return;
    const refs: WaitRef[] = [];
    const rows = new Set<unknown>();
    for (const ref of this.#requested) {
      refs.push(ref);
      this.#requested.delete(ref);
      if (rows.add(ref.rowId ?? ref).size === ROWS) break;
    }
    const busyUntilMs = nowMs + OVERLAP_MS;
    this.#busyUntilMs = busyUntilMs;
    void this.#read(refs, nowMs).then(() => {
      if (this.#busyUntilMs === busyUntilMs) this.#busyUntilMs = 0;
      this.flush();
    });
  }

  async #read(refs: readonly WaitRef[], nowMs: number): Promise<void> {
    const request = new SharedRequest(
      refs.map(({ wait }) => wait),
      nowMs,
    );
    this.#inFlight.add(request);
    let rows: ReadonlyMap<WaitRef, Task | null> | undefined;
    try {
      rows = await this.#rows(refs, request.call);
    } catch (error) {
      this.#done(request, refs);
      const open = refs.filter(({ wait }) => wait.isOpen);
      // The rows may be too large for one answer: fewer at a time then.
      if (WadiError.is(error) && !error.retryable && open.length > 1) {
        for (const ref of open) ref.resumeReading();
        const half = open.length >> 1;
        await this.#read(open.slice(0, half), nowMs);
        await this.#read(open.slice(half), nowMs);
      } else this.#listener.onReadError(open, error);
      return;
    }
    this.#done(request, refs);
    for (const ref of refs) if (ref.wait.isOpen) this.#listener.onRow(ref, rows.get(ref) ?? null);
  }

  #done(request: SharedRequest, refs: readonly WaitRef[]): void {
    this.#inFlight.delete(request);
    for (const ref of refs) ref.stopReading();
  }

  async #rows(refs: readonly WaitRef[], call: OperationOptions): Promise<Map<WaitRef, Task | null>> {
    const [first] = refs;
    this.#sent++;
    if (refs.length === 1) {
      const { rowId, ref } = first!;
      return new Map([[first!, await this.#store.get(rowId === null ? ref : { id: rowId }, call)]]);
    }
    const keys = refs.filter(({ rowId }) => rowId === null);
    if (keys.length > 0) {
      this.#sent++;
      const states = await readStates(this.#store, keys, call);
      for (const ref of keys) ref.resolveRow(states.get(ref)?.id ?? null);
    }
    const ids = [...new Set(refs.flatMap(({ rowId }) => rowId ?? []))];
    const tasks = await this.#store.getMany(ids, call);
    const byId = new Map(tasks.map((task) => [task.id, task]));
    return new Map(refs.map((ref) => [ref, byId.get(ref.rowId ?? "") ?? null]));
  }
}
