/** Retention rules: which finished tasks a sweep deletes. */
import { InvalidArgument } from "../../core/errors/errors.ts";
import type { Retention } from "../../core/operations/control.ts";
import { TERMINAL_STATUSES } from "../../core/task.ts";
import { integer, oneOf, onlyKnown, optionalText } from "../../core/validate.ts";

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

const RULE_FIELDS = Object.keys({
  queue: true,
  name: true,
  status: true,
  olderThanMs: true,
} satisfies Record<keyof RetentionRule, true>);

/** @throws {InvalidArgument} naming the option that is wrong. */
export function checkRetention(rules: readonly RetentionRule[]): Retention {
  if (!Array.isArray(rules) || rules.length === 0 || rules.length > MAX_RULES) {
    const found = Array.isArray(rules) ? `${rules.length} rules` : typeof rules;
    throw new InvalidArgument(`retention must be an array of 1 to ${MAX_RULES} rules, got ${found}`);
  }
  return rules.flatMap((rule: RetentionRule) => {
    onlyKnown("a retention rule", rule ?? null, RULE_FIELDS);
    const { status, olderThanMs: age } = rule;
    const filter = { queue: optionalText("queue", rule.queue), name: optionalText("name", rule.name) };
    if (typeof age !== "object" || age === null) {
      const one = status === undefined ? null : oneOf("status", status, TERMINAL_STATUSES);
      return [{ ...filter, status: one, older_than_ms: integer("olderThanMs", age, 0) }];
    }
    if (status !== undefined) {
      throw new InvalidArgument("pass either status or olderThanMs by status, not both");
    }
    onlyKnown("olderThanMs", age, TERMINAL_STATUSES);
    const ends = TERMINAL_STATUSES.filter((each) => age[each] !== undefined);
    if (ends.length === 0) {
      throw new InvalidArgument(
        "olderThanMs names no status, so that its rule would never delete anything; " +
          `give ${TERMINAL_STATUSES.join(", ")} or one number`,
      );
    }
    return ends.map((each) => ({
      ...filter,
      status: each,
      older_than_ms: integer(`olderThanMs.${each}`, age[each], 0),
    }));
  });
}
