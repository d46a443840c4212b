import { WadiError } from "../../core/errors/errors.ts";
import type { OperationOptions } from "../../core/session/operation-options.ts";
import type { Store } from "../../core/session/store.ts";
import type { Task } from "../../core/task.ts";
import type { OpenRef, OpenWait } from "./open-wait.ts";
import { readStates } from "./read-states.ts";
import { Trip } from "./trip.ts";

/** Whole rows that are read at once: payloads and results may be large. */
const ROWS = 100;
/** How long a request holds back the next one. */
const OVERLAP_MS = 1000;

/** Reads the rows of tasks that have ended, many at a time: what comes while one request is on its way shares the next. */
export class RowReader {
  readonly #store: Store;
  readonly #onRow: (ref: OpenRef, task: Task | null) => void;
  readonly #onError: (refs: readonly OpenRef[], error: unknown) => void;
  readonly #waiting = new Set<OpenRef>();
  readonly #trips = new Set<Trip>();
  #isScheduled = false;
  #busyUntilMs = 0;
  /** Requests so far. */
  sent = 0;

  constructor(
    store: Store,
    onRow: (ref: OpenRef, task: Task | null) => void,
    onError: (refs: readonly OpenRef[], error: unknown) => void,
  ) {
    this.#store = store;
    this.#onRow = onRow;
    this.#onError = onError;
  }

  add(ref: OpenRef, id: string | null): void {
    ref.rowId = id;
    this.#waiting.add(ref);
    if (!ref.isReading) ref.wait.reading++;
    ref.isReading = true;
    ref.readAtMs = performance.now();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => this.flush());
  }

  /** Asks anew for a row that was asked for before `sinceMs` and has not come. */
  again(ref: OpenRef, sinceMs: number): void {
    if (ref.readAtMs <= sinceMs) this.add(ref, ref.rowId);
  }

  close(wait: OpenWait): void {
    for (const ref of wait.refs) this.#waiting.delete(ref);
    for (const trip of this.#trips) trip.leave(wait);
  }

  /** Sends what waits, unless a request is on its way that is young. */
  flush(): void {
    this.#isScheduled = false;
    const nowMs = performance.now();
    if (this.#waiting.size === 0 || nowMs < this.#busyUntilMs) return;
    const refs: OpenRef[] = [];
    const rows = new Set<unknown>();
    for (const ref of this.#waiting) {
      refs.push(ref);
      this.#waiting.delete(ref);
      if (rows.add(ref.rowId ?? ref).size === ROWS) break;
    }
    const busyUntilMs = nowMs + OVERLAP_MS;
    this.#busyUntilMs = busyUntilMs;
    void this.#read(refs, nowMs).then(() => {
      if (this.#busyUntilMs === busyUntilMs) this.#busyUntilMs = 0;
      this.flush();
    });
  }

  async #read(refs: readonly OpenRef[], nowMs: number): Promise<void> {
    const trip = new Trip(
      refs.map(({ wait }) => wait),
      nowMs,
    );
    this.#trips.add(trip);
    let rows: ReadonlyMap<OpenRef, Task | null> | undefined;
    try {
      rows = await this.#rows(refs, trip.call);
    } catch (error) {
      this.#done(trip, refs);
      const open = refs.filter(({ wait }) => wait.isOpen);
      // The rows may be too large for one answer: fewer at a time then.
      if (WadiError.is(error) && !error.retryable && open.length > 1) {
        for (const ref of open) ref.isReading = true;
        for (const ref of open) ref.wait.reading++;
        const half = open.length >> 1;
        await this.#read(open.slice(0, half), nowMs);
        await this.#read(open.slice(half), nowMs);
      } else this.#onError(open, error);
      return;
    }
    this.#done(trip, refs);
    for (const ref of refs) if (ref.wait.isOpen) this.#onRow(ref, rows.get(ref) ?? null);
  }

  #done(trip: Trip, refs: readonly OpenRef[]): void {
    this.#trips.delete(trip);
    for (const ref of refs) {
      if (ref.isReading) ref.wait.reading--;
      ref.isReading = false;
    }
  }

  async #rows(refs: readonly OpenRef[], call: OperationOptions): Promise<Map<OpenRef, Task | null>> {
    const [first] = refs;
    this.sent++;
    if (refs.length === 1) {
      const { rowId, ref } = first!;
      return new Map([[first!, await this.#store.get(rowId === null ? ref : { id: rowId }, call)]]);
    }
    const keys = refs.filter(({ rowId }) => rowId === null);
    if (keys.length > 0) {
      this.sent++;
      const states = await readStates(this.#store, keys, call);
      for (const ref of keys) ref.rowId = states.get(ref)?.id ?? null;
    }
    const ids = [...new Set(refs.flatMap(({ rowId }) => rowId ?? []))];
    const tasks = await this.#store.getMany(ids, call);
    const byId = new Map(tasks.map((task) => [task.id, task]));
    return new Map(refs.map((ref) => [ref, byId.get(ref.rowId ?? "") ?? null]));
  }
}
