/** What the hint does for one short drain: it may end before its first round trip, and leaves there what it found. */

import { bind } from "../core/operations/statement.ts";
import type { HintCells, HintRead } from "../producer/hint/hint-cells.ts";
import type { WadiInternals } from "../producer/internals.ts";
import type { CodeSchedules } from "./drain/code-schedules.ts";
import type { NextDue } from "./drain/queue-snapshot.ts";
import type { DrainSummary } from "./drain-summary.ts";
import { laneKey, type Registration } from "./handler/registration.ts";
import { emit, report, type WorkerHooks } from "./hooks.ts";

export interface DrainHintParts {
  readonly wadi: WadiInternals;
  readonly hooks: WorkerHooks;
  readonly registrations: readonly Registration[];
  readonly schedules: CodeSchedules | null;
}

export class DrainHint {
  readonly #parts: DrainHintParts;
  readonly #cells: HintCells;
  /** Names the handlers of this drain; null: its schedules are not known. */
  #handlers: string | null = null;
  /** Null: the cells could not be read before the first claim, so what the drain finds cannot be compared to them. */
  #read: HintRead | null = null;

  private constructor(parts: DrainHintParts, cells: HintCells) {
    this.#parts = parts;
    this.#cells = cells;
  }

  /** Null: the `Wadi` has no `hint`. */
  static of(parts: DrainHintParts): DrainHint | null {
    const { hint } = parts.wadi;
    return hint === null ? null : new DrainHint(parts, hint);
  }

  /** Reads the hint. The summary of the whole drain if it says that nothing is to be done, else null. Never rejects. */
  async skip(): Promise<DrainSummary | null> {
    return this.#try(async () => {
      this.#handlers = await this.#nameHandlers();
      const read = await this.#cells.read(this.#handlers);
      this.#read = read;
      if (!this.#isIdle(read)) return null;
      const summary = { ...NOTHING, nextDueAtMs: read.drained!.nextDueAtMs };
      emit(this.#parts.hooks, { type: "drained", summary });
      return summary;
    });
  }

  /**
   * For a drain that was kicked, which asks the database in any case: if the hint says that nothing is due, the write
   * of the submit was lost, and the next drain must ask the database, should this one be killed. Never rejects.
   */
  async doubt(): Promise<void> {
    await this.#try(async () => {
      if (this.#isIdle(await this.#cells.read(await this.#nameHandlers()))) this.#cells.touch();
    });
  }

  /**
   * Stores what the last claim found. Until then the hint says what it said before the drain, that it must ask the
   * database: so does the next one if this is killed, and learns when its leases end. Never rejects.
   */
  async drained({ nextDueAtMs, nowMs }: NextDue): Promise<void> {
    const [handlers, read] = [this.#handlers, this.#read];
    // While tasks are due, the hint has nothing to say.
    if (handlers === null || read === null || nowMs === 0 || (nextDueAtMs ?? Infinity) <= nowMs) return;
    await this.#try(() => this.#cells.write(handlers, { seen: read.changed, atMs: nowMs, nextDueAtMs }));
  }

  #isIdle(read: HintRead): boolean {
    return this.#cells.isIdle(read, this.#parts.wadi.session.target.nowMs ?? Date.now());
  }

  async #try<T>(work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      report(this.#parts.hooks, error, "hint");
      return null;
    }
  }

  /** Other handlers, schedules, scopes or schemas have another cell: what this drain finds says nothing about them. */
  async #nameHandlers(): Promise<string> {
    const { wadi, registrations, schedules } = this.#parts;
    const lanes = registrations.flatMap(({ queues, name }) =>
      queues.map((queue) => laneKey({ queue, name })),
    );
    const { sql } = bind(wadi.executor, "select_version", {}); // differs between the schemas of a database
    if (schedules?.isPrepared === false) await schedules.prepare(wadi.executor);
    const code = schedules && [schedules.group, schedules.revision, schedules.fingerprint];
    const { scope } = wadi.session.target;
    const bytes = new TextEncoder().encode(JSON.stringify([lanes.sort(), sql, scope, code]));
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    return Array.from(digest.subarray(0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("");
  }
}

const NOTHING: DrainSummary = {
  ...{ claimed: 0, succeeded: 0, failed: 0, retried: 0, released: 0, snoozed: 0, canceled: 0 },
  ...{ recovered: 0, lost: 0, roundTrips: 0, queries: 0, more: false, unhandled: [], skipped: [] },
  nextDueAtMs: null,
};
