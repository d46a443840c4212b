/** When a short drain must be over: from its options, and from the platform where that reports it. */

import { InvalidArgument } from "../core/errors/errors.ts";
import { monotonicMs, toMonotonicMs } from "../core/monotonic-clock.ts";
import { MAX_TIMER_MS } from "../core/timers.ts";
import { instant, integer, oneOf } from "../core/validate.ts";
import { vercelContext } from "../core/vercel-context.ts";

/** An event that starts an invocation on Cloudflare Workers. */
export type CloudflareTrigger = "fetch" | "scheduled" | "queue" | "alarm";

/** Options that say how long an invocation lasts. */
export interface InvocationTime {
  readonly budgetMs?: number | undefined;
  readonly deadline?: Date | number | undefined;
  readonly trigger?: CloudflareTrigger | undefined;
}

const DEFAULT_BUDGET_MS = 25_000;
/**
 * What Cloudflare gives an invocation, less what may have passed before the drain begins: 30 seconds once the caller
 * of a fetch has gone, and 15 minutes for the others.
 */
const TRIGGER_BUDGETS_MS: Readonly<Record<CloudflareTrigger, number>> = {
  fetch: 25_000,
  scheduled: 14 * 60_000,
  queue: 14 * 60_000,
  alarm: 14 * 60_000,
};

/**
 * When an invocation with these options must be over, on the monotonic clock. The deadline that Vercel reports is the
 * latest one.
 *
 * @throws {InvalidArgument} if an option is out of range, or more than one is given.
 */
export function invocationDeadlineMs(options: InvocationTime): number {
  const platformMs = vercelDeadlineMs();
  const optionMs = optionDeadlineMs(options);
  if (platformMs === null) return optionMs ?? monotonicMs() + DEFAULT_BUDGET_MS;
  return Math.min(platformMs, optionMs ?? platformMs);
}

function optionDeadlineMs({ budgetMs, deadline, trigger }: InvocationTime): number | null {
  if ([budgetMs, deadline, trigger].filter((option) => option !== undefined).length > 1) {
    throw new InvalidArgument("pass only one of budgetMs, deadline and trigger");
  }
  if (deadline !== undefined) return toMonotonicMs(instant("deadline", deadline));
  if (budgetMs !== undefined) return monotonicMs() + integer("budgetMs", budgetMs, 1, MAX_TIMER_MS);
  if (trigger === undefined) return null;
  const triggers = Object.keys(TRIGGER_BUDGETS_MS) as CloudflareTrigger[];
  return monotonicMs() + TRIGGER_BUDGETS_MS[oneOf("trigger", trigger, triggers)];
}

/** Null where there is none, or none that can be read. */
function vercelDeadlineMs(): number | null {
  const deadline = vercelContext()?.deadline;
  const epochMs = deadline === undefined ? Number.NaN : new Date(deadline).getTime();
  return Number.isNaN(epochMs) ? null : toMonotonicMs(epochMs);
}
