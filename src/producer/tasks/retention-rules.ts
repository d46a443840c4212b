/** Retention rules: which finished tasks a sweep deletes. */
import { type CompleteChecks, checkOptions, optional } from "../../core/check-options.ts";
import { InvalidArgument } from "../../core/errors/errors.ts";
import type { Retention } from "../../core/operations/control.ts";
import { TERMINAL_STATUSES } from "../../core/task.ts";
import { integer, oneOf, onlyKnown, optionalText, requireRecord, show } from "../../core/validate.ts";
import { inItem } from "../in-item.ts";

/** A rule may take three statements, and a sweep has to fit into one request to the database with the lowest limit. */
const MAX_RULES = 16;

/** How long finished tasks are kept. Without `queue`, `name` and `status` it applies to every finished task. */
export interface RetentionRule {
  /** Only tasks of this queue. @default any */
  readonly queue?: string | undefined;
  /**
   * Only tasks of this name. Every sweep reads past the tasks of other names that finished before the cutoff, so prefer
   * rules by queue. @default any
   */
  readonly name?: string | undefined;
  /** Only tasks of this status. @default every one of them */
  readonly status?: "succeeded" | "failed" | "canceled" | undefined;
  /**
   * Milliseconds after its completion at which a task may be deleted: one number, or one for each status. Tasks of a
   * status that is not given are kept. Minimum `0`.
   */
  readonly olderThanMs:
    | number
    | {
        readonly succeeded?: number | undefined;
        readonly failed?: number | undefined;
        readonly canceled?: number | undefined;
      };
}

const RULE = {
  queue: optionalText,
  name: optionalText,
  status: optional((option, value) => oneOf(option, value, TERMINAL_STATUSES)),
  olderThanMs: (_: string, value: unknown) => value as RetentionRule["olderThanMs"], // by checkRule
} satisfies CompleteChecks<RetentionRule>;

/**
 * @param expects Begins the message about a value that is no list of rules.
 * @throws {InvalidArgument} naming the rule and the option that is wrong.
 */
export function checkRetention(rules: readonly RetentionRule[], expects = "retention must be"): Retention {
  if (!Array.isArray(rules) || rules.length === 0 || rules.length > MAX_RULES) {
    const found = Array.isArray(rules) ? `${rules.length} rules` : show(rules);
    throw new InvalidArgument(`${expects} an array of 1 to ${MAX_RULES} retention rules, got ${found}`);
  }
  return rules.flatMap((rule, at) => inItem(`retention rule ${at}`, () => checkRule(rule)));
}

function checkRule(rule: RetentionRule): Retention {
  requireRecord("a retention rule", rule);
  const { olderThanMs: age, ...filter } = checkOptions("a retention rule", rule, RULE);
  if (typeof age !== "object" || age === null) {
    return [{ ...filter, older_than_ms: integer("olderThanMs", age, 0) }];
  }
  if (filter.status !== null) {
    throw new InvalidArgument("pass either status or olderThanMs by status, not both");
  }
  onlyKnown("olderThanMs", age, TERMINAL_STATUSES);
  const ends = TERMINAL_STATUSES.filter((each) => age[each] !== undefined);
  if (ends.length === 0) {
    throw new InvalidArgument(
      "olderThanMs names no status, so its rule deletes nothing; " +
        `give ${TERMINAL_STATUSES.join(", ")} or one number`,
    );
  }
  return ends.map((each) => ({
    ...filter,
    status: each,
    older_than_ms: integer(`olderThanMs.${each}`, age[each], 0),
  }));
}
