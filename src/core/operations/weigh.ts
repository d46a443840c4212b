import type { Row } from "../executor.ts";
import { byteLength } from "../json/json.ts";
import type { ClaimPool } from "./lease.ts";

/** A due task that one answer of this database cannot hold, whatever else is left out of it. */
export interface OversizedTask {
  readonly id: string;
  readonly name: string;
  readonly queue: string;
  /** What it would take. */
  readonly bytes: number;
}

/**
 * How the next claim is to go about large tasks. A claim may bring `limit` tasks of 1/`limit` of an answer each. Only
 * one that came back with fewer, though more were due, is followed by one that weighs.
 */
export interface Weighing {
  /** Whether a claim reads the size of what it passes, and reports what it had to leave out. */
  readonly weighs: boolean;
  /** What the largest task that was left out takes: a claim asks for no more tasks than it could hold of this size. */
  readonly bytes: number;
  /** A weighing claim found nothing large: no other one before this time of the database. */
  readonly calmUntilMs: number;
}

export const WEIGHS_NOTHING: Weighing = { weighs: false, bytes: 0, calmUntilMs: 0 };

/** Of an answer, for everything but tasks: recovered leases, settlements. */
const REST_BYTES = 100_000;
const CALM_MS = 2000;
/** The short columns of a row. As `fragments/weight.sql` has it. */
const ROW_BYTES = 3000;

/** What the tasks of one claim may take of an answer; null: there is no limit. */
export function answerBytes(maxResponseBytes: number | undefined): number | null {
  return maxResponseBytes === undefined
    ? null
    : Math.max(ROW_BYTES, Math.floor(maxResponseBytes * 0.95) - REST_BYTES);
}

/** The pools with no more tasks asked for than an answer holds of this size. */
export function fitting(
  pools: readonly ClaimPool[],
  maxBytes: number | null,
  { bytes }: Weighing,
): readonly ClaimPool[] {
  if (maxBytes === null || bytes === 0) return pools;
  let left = Math.max(1, Math.floor(maxBytes / bytes));
  return pools.map((pool) => {
    const limit = Math.min(pool.limit, left);
    left -= limit;
    return { ...pool, limit };
  });
}

export function tasksAsked(pools: readonly ClaimPool[]): number {
  return pools.reduce((sum, { limit }) => sum + limit, 0);
}

/** What a claimed row takes of an answer. */
function weightOf(row: Row): number {
  let bytes = ROW_BYTES;
  for (const column of ["payload", "metadata", "error", "result", "message"]) {
    const text = row[column];
    if (typeof text === "string")
      bytes += text.length < 1000 ? 2 * text.length : byteLength(JSON.stringify(text));
  }
  return bytes;
}

/** What a claim that asked for `asked` tasks teaches the next one. */
export function learn(
  { weighs, bytes: before, calmUntilMs }: Weighing,
  maxBytes: number,
  asked: number,
  answer: {
    readonly taken: readonly Row[];
    readonly heavy: readonly OversizedTask[];
    readonly isShort: boolean;
    readonly nowMs: number;
  },
): Weighing {
  const { taken, heavy, isShort, nowMs } = answer;
  if (!weighs) {
    return isShort && nowMs >= calmUntilMs
      ? { weighs: true, bytes: 0, calmUntilMs }
      : { ...WEIGHS_NOTHING, calmUntilMs };
  }
  let bytes = 0;
  for (const task of heavy) if (task.bytes <= maxBytes) bytes = Math.max(bytes, task.bytes);
  for (const row of taken) bytes = Math.max(bytes, weightOf(row));
  if (bytes * asked > maxBytes) return { weighs: true, bytes, calmUntilMs };
  if (heavy.length > 0) return { weighs: true, bytes: 0, calmUntilMs };
  return { ...WEIGHS_NOTHING, calmUntilMs: before > 0 ? calmUntilMs : nowMs + CALM_MS };
}
