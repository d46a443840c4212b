/** Reads the tasks that waits return. */
import { WadiError } from "../../core/errors/errors.ts";
import { getTask } from "../../core/operations/read.ts";
import type { OperationOptions } from "../../core/session/operation-options.ts";
import { getTasksByHalves } from "../../core/session/read-by-halves.ts";
import type { Session } from "../../core/session/session.ts";
import type { Task } from "../../core/task.ts";
import type { PendingWait, WaitRef } from "./pending-wait.ts";
import { readStates } from "./read-states.ts";
import { SharedRequest } from "./shared-request.ts";

/** What the reader reports of a read, for the waits that are still open. */
export interface EndedTaskListener {
  /** @param task The row; null if there is no such task. */
  onRow(ref: WaitRef, task: Task | null): void;
  onError(wait: PendingWait, error: unknown): void;
}

/** A row that a wait has requested. */
interface RequestedRow {
  readonly ref: WaitRef;
  /** Its task; null if its key has to be resolved first. */
  readonly id: string | null;
  readonly requestedAtMs: number;
}

/** Most rows of one read: payloads and results may be large. */
const ROWS = 100;
/** How long a read holds back the next one: its connection may be dead. */
const OVERLAP_MS = 1000;

/**
 * Reads the whole rows of tasks that have ended, many at a time: rows that are requested while a read is in flight
 * share the next one.
 */
export class EndedTaskReader {
  readonly #session: Session;
  readonly #listener: EndedTaskListener;
  /** Rows that have been requested and have not come. */
  readonly #awaited = new Map<WaitRef, RequestedRow>();
  /** Those of them that the next read is to fetch. */
  readonly #unsent = new Map<WaitRef, RequestedRow>();
  readonly #inFlight = new Set<SharedRequest>();
  #isScheduled = false;
  #busyUntilMs = 0;
  #sent = 0;

  constructor(session: Session, listener: EndedTaskListener) {
    this.#session = session;
    this.#listener = listener;
  }

  /** Requests sent so far. */
  get sent(): number {
    return this.#sent;
  }

  /** Whether the row of this reference has been requested and has not come. */
  isReading(ref: WaitRef): boolean {
    return this.#awaited.has(ref);
  }

  /** @param id Its task; null if its key has to be resolved first. */
  add(ref: WaitRef, id: string | null): void {
    const row = { ref, id, requestedAtMs: performance.now() };
    this.#awaited.set(ref, row);
    this.#unsent.set(ref, row);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => this.flush());
  }

  /** Requests a row again that was requested before `sinceMs` and has not come. */
  again(ref: WaitRef, sinceMs: number): void {
    const { id, requestedAtMs } = this.#awaited.get(ref)!;
    if (requestedAtMs <= sinceMs) this.add(ref, id);
  }

  /** The wait is closed. */
  forget(wait: PendingWait): void {
    for (const ref of wait.refs) {
      this.#awaited.delete(ref);
      this.#unsent.delete(ref);
    }
    for (const request of this.#inFlight) request.leave(wait);
  }

  /** Sends the rows that are requested, unless a read was sent less than `OVERLAP_MS` ago and is in flight. */
  flush(): void {
    this.#isScheduled = false;
    if (this.#unsent.size === 0) return;
    const nowMs = performance.now();
    if (nowMs < this.#busyUntilMs) return;
    const rows: RequestedRow[] = [];
    const distinct = new Set<unknown>();
    for (const [ref, row] of this.#unsent) {
      rows.push(row);
      this.#unsent.delete(ref);
      if (distinct.add(row.id ?? ref).size === ROWS) break;
    }
    const busyUntilMs = nowMs + OVERLAP_MS;
    this.#busyUntilMs = busyUntilMs;
    void this.#read(rows, nowMs).then(() => {
      if (this.#busyUntilMs === busyUntilMs) this.#busyUntilMs = 0;
      this.flush();
    });
  }

  async #read(rows: readonly RequestedRow[], nowMs: number): Promise<void> {
    const request = new SharedRequest(
      rows.map(({ ref }) => ref.wait),
      nowMs,
    );
    this.#inFlight.add(request);
    let tasks: ReadonlyMap<WaitRef, Task | null>;
    try {
      tasks = await this.#fetch(rows, request.call);
    } catch (error) {
      this.#inFlight.delete(request);
      return this.#onError(
        rows.filter(({ ref }) => ref.wait.isOpen),
        nowMs,
        error,
      );
    }
    this.#inFlight.delete(request);
    for (const { ref } of rows) this.#awaited.delete(ref);
    for (const { ref } of rows) if (ref.wait.isOpen) this.#listener.onRow(ref, tasks.get(ref) ?? null);
  }

  /** The rows may be too large for one answer: then they are read by halves. */
  async #onError(rows: readonly RequestedRow[], nowMs: number, error: unknown): Promise<void> {
    if (WadiError.is(error) && !error.retryable && rows.length > 1) {
      const half = rows.length >> 1;
      await this.#read(rows.slice(0, half), nowMs);
      await this.#read(rows.slice(half), nowMs);
      return;
    }
    for (const { ref } of rows) this.#awaited.delete(ref);
    for (const wait of new Set(rows.map(({ ref }) => ref.wait))) this.#listener.onError(wait, error);
  }

  async #fetch(rows: readonly RequestedRow[], call: OperationOptions): Promise<Map<WaitRef, Task | null>> {
    const [first] = rows;
    this.#sent++;
    if (rows.length === 1) {
      const { ref, id } = first!;
      const operation = getTask(this.#session.target, id === null ? ref.ref : { id });
      return new Map([[ref, await this.#session.execute(operation, call)]]);
    }
    const ids = new Map(rows.map(({ ref, id }) => [ref, id]));
    const keys = rows.filter(({ id }) => id === null).map(({ ref }) => ref);
    if (keys.length > 0) {
      this.#sent++;
      const states = await readStates(this.#session, keys, call);
      for (const ref of keys) ids.set(ref, states.get(ref)?.id ?? null);
    }
    const known = [...new Set(ids.values())].filter((id) => id !== null);
    const tasks = await getTasksByHalves(this.#session, known, call);
    const byId = new Map(tasks.map((task) => [task.id, task]));
    return new Map([...ids].map(([ref, id]) => [ref, byId.get(id ?? "") ?? null]));
  }
}
