/** The cursor of a bulk operation: where a later call goes on, and for which filter and count it was made. */
import { InvalidArgument } from "../../core/errors/errors.ts";
import type { BulkCount, BulkKind, BulkScope } from "../../core/operations/bulk.ts";

/** The state of a bulk operation between two pages. */
export interface BulkProgress extends BulkCount {
  /** Where the next page begins; null: at the beginning. */
  readonly position: string | null;
}

export function encodeCursor(kind: BulkKind, scope: BulkScope, progress: BulkProgress): string {
  const { tasks, cutoffMs, position } = progress;
  return JSON.stringify([kind, listOf(scope), tasks, cutoffMs, position]);
}

/** @throws {InvalidArgument} if it was not made by the same method for the same filter. */
export function decodeCursor(cursor: string, kind: BulkKind, scope: BulkScope): BulkProgress {
  const [madeBy, filter, tasks, cutoffMs, position] = parse(cursor);
  if (typeof tasks !== "number" || typeof cutoffMs !== "number" || !isPosition(position)) {
    throw new InvalidArgument("cursor must be the cursor of an earlier result, unchanged");
  }
  if (madeBy !== kind || JSON.stringify(filter) !== JSON.stringify(listOf(scope))) {
    throw new InvalidArgument("cursor belongs to another method or filter; pass the same filter again");
  }
  return { tasks, cutoffMs, position };
}

function parse(cursor: string): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(cursor);
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return [];
  }
}

function isPosition(value: unknown): value is string | null {
  return value === null || typeof value === "string";
}

function listOf({ queue, name, status, correlationId, rootId }: BulkScope): (string | null)[] {
  return [queue, name, status, correlationId, rootId];
}
