/** Bulk operations on tasks that match a filter: `cancelMany`, `retryMany` and `purgeMany`, and their checks. */
import { type CompleteChecks, checkOptions, integerFrom, optional } from "../../core/check-options.ts";
import { InvalidArgument } from "../../core/errors/errors.ts";
import type { BulkKind, BulkScope } from "../../core/operations/bulk.ts";
import type { TaskStatus } from "../../core/task.ts";
import { oneOf, optionalFlag, optionalText, text } from "../../core/validate.ts";
import { type CallOptions, directCall } from "../call-options.ts";
import type { WadiInternals } from "../internals.ts";
import { decodeCursor } from "./bulk-cursor.ts";
import { type BulkResult, BulkRun } from "./bulk-run.ts";

/** Which tasks a bulk operation takes: those that match every given field. At least one is required. */
export interface BulkFilter<Status extends TaskStatus = TaskStatus> {
  /** Only tasks of this queue. @default any */
  readonly queue?: string | undefined;
  /** Only tasks of this name. Without a queue, retries and purges read the ended tasks of all names. @default any */
  readonly name?: string | undefined;
  /** Only tasks of this status. @default queued and running, failed, or every terminal one */
  readonly status?: Status | undefined;
  /** Only tasks of this correlation id. @default any */
  readonly correlationId?: string | undefined;
  /** Only this task and its descendants. @default any */
  readonly rootId?: string | undefined;
}

/** How far one call of a bulk operation goes. */
export interface BulkOptions {
  /** Most tasks to change in this call. From 1 to 1,000,000. @default 10000 */
  readonly limit?: number | undefined;
  /**
   * The cursor of an earlier result for the same filter: goes on from there, by the cut-off of its count.
   * @default none: from the beginning
   */
  readonly cursor?: string | undefined;
  /** Only counts, and changes nothing: the cursor of the result begins what was counted. @default false */
  readonly countOnly?: boolean | undefined;
}

/** Options of `retryMany`. */
export interface RetryManyOptions extends BulkOptions {
  /** Resets the attempts and crashes to zero; otherwise the retry is one more attempt. @default false */
  readonly resetAttempt?: boolean | undefined;
}

const FILTER = {
  queue: optionalText,
  name: optionalText,
  status: optionalText, // by checkScope
  correlationId: optionalText,
  rootId: optionalText,
} satisfies CompleteChecks<BulkFilter>;

const OPTIONS = {
  limit: integerFrom(1, 1_000_000, 10_000),
  cursor: optional(checkCursor),
  countOnly: optionalFlag,
  resetAttempt: optionalFlag,
} satisfies CompleteChecks<RetryManyOptions>;

interface BulkLimits {
  readonly limit: number;
  readonly cursor: string | null;
  readonly countOnly: boolean | undefined;
}

const METHODS = { cancel: "cancelMany", retry: "retryMany", purge: "purgeMany" } as const;

const STATUSES = {
  cancel: ["queued", "running"],
  retry: ["failed", "canceled"],
  purge: ["succeeded", "failed", "canceled"],
} as const satisfies { readonly [Kind in BulkKind]: readonly TaskStatus[] };

function checkScope(kind: BulkKind, filter: BulkFilter): BulkScope {
  const { status, ...scope } = checkOptions(METHODS[kind], filter, FILTER);
  if (status === null && Object.values(scope).every((value) => value === null)) {
    throw new InvalidArgument(
      `${METHODS[kind]} needs a filter: pass queue, name, status, correlationId or rootId`,
    );
  }
  const checked = status === null ? null : oneOf("status", status, STATUSES[kind]);
  return { ...scope, status: checked ?? (kind === "retry" ? "failed" : null) };
}

/** @throws {InvalidArgument} naming the option that is wrong, or if the filter is empty. */
export async function changeMany(
  internals: WadiInternals,
  kind: BulkKind,
  filter: BulkFilter,
  options: RetryManyOptions = {},
  call?: CallOptions,
): Promise<BulkResult> {
  const { resetAttempt, ...others } = OPTIONS;
  const checks = kind === "retry" ? OPTIONS : others;
  const { limit, cursor, countOnly } = checkOptions<BulkLimits>(METHODS[kind], options, checks);
  const scope = checkScope(kind, filter);
  const resets = kind === "retry" && (resetAttempt("resetAttempt", options.resetAttempt) ?? false);
  const run = new BulkRun(internals, kind, scope, resets, directCall(METHODS[kind], call));
  const progress = cursor === null ? null : decodeCursor(cursor, kind, scope);
  return countOnly ? run.count(progress) : run.change(progress, limit);
}

function checkCursor(option: string, value: unknown): string {
  if (value !== null) return text(option, value, 20_000);
  throw new InvalidArgument(
    `${option} must be the cursor of an earlier result, got null, which says that nothing is left; ` +
      "omit it to begin",
  );
}
