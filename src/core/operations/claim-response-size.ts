/** Keeps the response of a claim below the size that a database or its client can send. */

import type { Row } from "../executor.ts";
import { NO_LIMIT } from "../infinity.ts";
import { byteLength } from "../json/json.ts";
import { numberOrNull } from "./decode-task.ts";

/** A due task that is too large for any response of this database, even for one that holds nothing else. */
export interface OversizedTask {
  readonly id: string;
  readonly name: string;
  readonly queue: string;
  /** Bytes that it takes in a response. */
  readonly bytes: number;
}

/**
 * What earlier claims found out about large tasks. A claim for n tasks skips each task that is larger than 1/n of the
 * largest response. If it then returns fewer tasks than are due, the next claim also reads the sizes of tasks.
 */
export interface SizeTracking {
  /** Whether a claim reads the size of the tasks that it passes, and reports those that it skipped. */
  readonly measures: boolean;
  /** Bytes of the largest task that was skipped: a claim requests no more tasks than fit at this size. 0: none. */
  readonly bytes: number;
  /** Set when a measuring claim found nothing large: no claim measures before this time of the database. */
  readonly pausedUntilMs: number;
}

/** The knowledge before the first claim: none. */
export const NO_SIZES: SizeTracking = { measures: false, bytes: 0, pausedUntilMs: 0 };

/** Room in a response for everything except tasks: recovered leases, settlements. */
const RESERVED_BYTES = 100_000;
/** How long no claim measures after one that found nothing large. */
const PAUSE_MS = 2000;
/** The short columns of a row, as the SQL of the claims counts them too. */
const ROW_BYTES = 3000;

/** Bytes of a response that the tasks of one claim may take; null: unlimited. */
export function taskBytesPerResponse(maxResponseBytes: number | undefined): number | null {
  return maxResponseBytes === undefined
    ? null
    : Math.max(ROW_BYTES, Math.floor(maxResponseBytes * 0.95) - RESERVED_BYTES);
}

/** How many tasks of the largest skipped size fit into a response of `maxBytes`. */
export function tasksThatFit(maxBytes: number | null, { bytes }: SizeTracking): number {
  return maxBytes === null || bytes === 0 ? NO_LIMIT : Math.max(1, Math.floor(maxBytes / bytes));
}

/** Bytes that a claimed row takes in a response. */
function rowBytes(row: Row): number {
  let bytes = ROW_BYTES;
  for (const column of ["payload", "metadata", "error", "result", "message"]) {
    const text = row[column];
    if (typeof text === "string")
      bytes += text.length < 1000 ? 2 * text.length : byteLength(JSON.stringify(text));
  }
  return bytes;
}

/** A claim whose response is bounded. */
export interface SizedClaim {
  /** What the previous claim found out. */
  readonly sizes: SizeTracking;
  /** Bytes of a response that tasks may take. */
  readonly maxBytes: number;
  /** Tasks that there are free slots for. */
  readonly wanted: number;
  /** Tasks that were requested: those of `wanted` that fit. */
  readonly requested: number;
}

/** The rest of the result of such a claim. */
interface ClaimTimes {
  readonly nextDueAtMs: number | null;
  readonly nowMs: number;
}

/** The part of a claim's result that concerns large tasks. */
export interface SizeReport {
  /** For the next claim. */
  readonly sizes: SizeTracking;
  /** Whether the next claim may return tasks that this one skipped for their size. */
  readonly skippedLarge: boolean;
  /** Due tasks that no claim through this database client can return. */
  readonly oversized: readonly OversizedTask[];
}

/**
 * The report of a claim with a bounded response, with the next due time that this client can act on.
 *
 * @param claimed Rows of the claimed tasks.
 * @param skippedRows Rows of due tasks that were skipped for their size; empty unless the claim measured.
 */
export function reportSizes(
  claim: SizedClaim,
  { nextDueAtMs, nowMs }: ClaimTimes,
  claimed: readonly Row[],
  skippedRows: readonly Row[],
): SizeReport & Pick<ClaimTimes, "nextDueAtMs"> {
  const { sizes: before, maxBytes, requested } = claim;
  const isShort = claimed.length < requested && nextDueAtMs !== null && nextDueAtMs <= nowMs;
  const skipped = skippedRows.map(decodeOversized);
  const sizes = updateSizes(claim, claimed, skipped, isShort, nowMs);
  const isNew = sizes.measures && (!before.measures || sizes.bytes !== before.bytes);
  const oversized = skipped.filter(({ bytes }) => bytes > maxBytes);
  // Everything that is due and has a slot is too large for any claim: this client has nothing to do until the next one.
  const isStuck = isShort && oversized.length > 0 && oversized.length === skipped.length;
  return {
    sizes,
    skippedLarge: isNew || (sizes.bytes > 0 && claimed.length > 0),
    oversized,
    nextDueAtMs: isStuck ? numberOrNull(skippedRows[0]!.next_ms) : nextDueAtMs,
  };
}

function updateSizes(
  { sizes: before, maxBytes, wanted }: SizedClaim,
  claimed: readonly Row[],
  skipped: readonly OversizedTask[],
  isShort: boolean,
  nowMs: number,
): SizeTracking {
  const { measures, pausedUntilMs } = before;
  if (!measures) return { bytes: 0, measures: isShort && nowMs >= pausedUntilMs, pausedUntilMs };
  let bytes = 0;
  for (const task of skipped) if (task.bytes <= maxBytes) bytes = Math.max(bytes, task.bytes);
  for (const row of claimed) bytes = Math.max(bytes, rowBytes(row));
  if (bytes * wanted > maxBytes) return { bytes, measures, pausedUntilMs };
  if (skipped.length > 0) return { bytes: 0, measures, pausedUntilMs };
  return { ...NO_SIZES, pausedUntilMs: before.bytes > 0 ? pausedUntilMs : nowMs + PAUSE_MS };
}

function decodeOversized({ id, name, queue, bytes }: Row): OversizedTask {
  return { id: String(id), name: String(name), queue: String(queue), bytes: Number(bytes) };
}
