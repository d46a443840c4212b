/** Reads and writes the cells of a hint, with bounded waits. */

import { integerFrom, optionalFunction } from "../../core/check-options.ts";
import { InvalidArgument } from "../../core/errors/errors.ts";
import { isRecord } from "../../core/json/is-record.ts";
import { monotonicMs } from "../../core/monotonic-clock.ts";
import { sleep } from "../../core/timers.ts";
import { ulid } from "../../core/ulid.ts";
import { onlyKnown, requireRecord, show } from "../../core/validate.ts";
import type { Background } from "../background.ts";
import type { Hint } from "./hint.ts";

/** What a drain found, by the database's clock, in epoch milliseconds. */
export interface Drained {
  /** The text of the changed cell before its claim; null if it had none. */
  readonly seen: string | null;
  /** When its last claim was made. */
  readonly atMs: number;
  /** When the next task is due, as that claim reported. */
  readonly nextDueAtMs: number | null;
}

/** What a drain reads before its first round trip. */
export interface HintRead {
  /** The text of the changed cell. */
  readonly changed: string | null;
  /** What the last drain of the same handlers found; null if that is not known. */
  readonly drained: Drained | null;
}

const HOUR_MS = 3_600_000;
const MAX_AGE = integerFrom(1000, 31 * 24 * HOUR_MS, HOUR_MS);
/** Longest wait for a cell. */
const CELL_MS = 1000;
/** Tries of a write, and the pause between them: KV takes one write of a key in a second. */
const TRIES = 3;
const RETRY_MS = 1100;
/** A write that was planned longer ago than this never ran: the platform ended its invocation. */
const PLANNED_MS = 10_000;
/** How far the clock of a machine may be behind that of the database. */
const SKEW_MS = 60_000;

/**
 * A hint has two kinds of cells, which different sides write, so that none overwrites what another has to say: stores
 * have no compare-and-set, and may answer with an older text.
 *
 * - `changed`: a new text after each commit that may have made a task due sooner. Any of two that overwrite each other
 *   serves: only that it is another text counts.
 * - `drained:...`, one for each set of handlers: what the last drain found, with the text of `changed` that it read
 *   before its claim. The claim saw all that was committed before that text was written. While `changed` has another
 *   text, or the next task is due, or it is older than `maxAgeMs`, the database is asked.
 */
export class HintCells {
  readonly maxAgeMs: number;
  readonly #hint: Hint;
  readonly #background: Background;
  #inFlight: Promise<void> | null = null;
  #plannedAtMs: number | null = null;

  private constructor(hint: Hint, background: Background) {
    this.#hint = hint;
    this.#background = background;
    this.maxAgeMs = MAX_AGE("hint.maxAgeMs", hint.maxAgeMs);
  }

  /** Null: the `Wadi` has no `hint`. @throws {InvalidArgument} if it is of the wrong shape. */
  static of(hint: Hint | undefined, background: Background): HintCells | null {
    if (hint === undefined) return null;
    requireRecord("hint", hint);
    onlyKnown("hint", hint, ["get", "set", "maxAgeMs"]);
    for (const method of ["get", "set"] as const) {
      if (hint[method] === undefined)
        throw new InvalidArgument(`hint must have get and set, or be made by hintInKv, got ${show(hint)}`);
      optionalFunction(`hint.${method}`, hint[method]);
    }
    return new HintCells(hint, background);
  }

  /** Whether the database need not be asked at `nowMs`. */
  isIdle({ changed, drained }: HintRead, nowMs: number): boolean {
    if (drained === null || drained.seen !== changed) return false;
    const ageMs = nowMs - drained.atMs;
    if (ageMs < -SKEW_MS || ageMs >= this.maxAgeMs) return false;
    return drained.nextDueAtMs === null || nowMs < drained.nextDueAtMs;
  }

  /** Notes that tasks may be due sooner. Call it after the commit: it writes in the background, and never throws. */
  touch(): void {
    const nowMs = monotonicMs();
    // A write that has not begun comes after this commit too.
    if (this.#plannedAtMs !== null && nowMs - this.#plannedAtMs < PLANNED_MS) return;
    this.#plannedAtMs = nowMs;
    void this.#background.run("hint", this.#touch());
  }

  async #touch(): Promise<void> {
    await null; // submits of the same turn share a write
    if (this.#inFlight !== null) await sleep(CELL_MS, undefined, this.#inFlight);
    this.#plannedAtMs = null;
    const sent = this.#setChanged();
    const settled = sent.catch(() => {});
    this.#inFlight = settled;
    try {
      await sent;
    } finally {
      if (this.#inFlight === settled) this.#inFlight = null;
    }
  }

  async #setChanged(): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#set("changed", ulid());
      } catch (error) {
        if (tries === TRIES) throw error;
        await sleep(RETRY_MS);
      }
    }
  }

  /** @throws what the store does, and if it holds what it was never given or does not answer in time. */
  async read(handlers: string): Promise<HintRead> {
    const [changed, drained] = await Promise.all([this.#get("changed"), this.#get(cellOf(handlers))]);
    return { changed, drained: drained === null ? null : decode(drained) };
  }

  /** Stores what a drain found, unless a drain with a later claim has. @throws as `read`. */
  async write(handlers: string, drained: Drained): Promise<void> {
    const stored = await this.#get(cellOf(handlers)).then(
      (text) => (text === null ? null : decode(text)),
      () => null,
    );
    if (stored !== null && stored.atMs > drained.atMs && stored.atMs - drained.atMs < this.maxAgeMs) return;
    await this.#set(cellOf(handlers), JSON.stringify(drained));
  }

  async #get(cell: string): Promise<string | null> {
    const value: unknown = (await within(cell, async () => this.#hint.get(cell))) ?? null;
    if (value === null || typeof value === "string") return value;
    if (cell === "changed") this.touch(); // else no drain could use the hint before the next submit
    throw new Error(`hint.get("${cell}") must return a text or null, got ${show(value)}`);
  }

  async #set(cell: string, text: string): Promise<void> {
    await within(cell, async () => this.#hint.set(cell, text));
  }
}

function cellOf(handlers: string): string {
  return `drained:${handlers}`;
}

function decode(text: string): Drained {
  let value: unknown = null;
  try {
    value = JSON.parse(text);
  } catch {}
  const isTime = (ms: unknown) => Number.isFinite(ms);
  if (isRecord(value)) {
    const { seen, atMs, nextDueAtMs } = value as Partial<Record<keyof Drained, unknown>>;
    const isKnown = (seen === null || typeof seen === "string") && isTime(atMs);
    if (isKnown && (nextDueAtMs === null || isTime(nextDueAtMs))) return value as unknown as Drained;
  }
  throw new Error("the hint holds a text that no drain has written; use a key that nothing else uses");
}

/** @throws if the store takes longer than `CELL_MS`. */
async function within<T>(cell: string, ask: () => Promise<T>): Promise<T> {
  let isAnswered = false;
  const answer = ask();
  const settle = () => {
    isAnswered = true;
  };
  const settled = answer.then(settle, settle);
  for (let turn = 0; turn < 4 && !isAnswered; turn++) await null; // in memory: no timer is set
  if (!isAnswered) await sleep(CELL_MS, undefined, settled);
  if (!isAnswered) throw new Error(`the hint did not answer for its cell "${cell}" within ${CELL_MS} ms`);
  return answer;
}
