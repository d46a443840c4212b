/** The one file that uses croner. It is loaded when a slot of an expression is computed, not before. */

import { InvalidArgument } from "../core/errors/errors.ts";

/** The first slot of an expression after a time, in epoch milliseconds; null if there is none. */
export type NextSlot = (afterMs: number) => number | null;

/** Expressions that were parsed: parsing costs more than a slot. */
const parsed = new Map<string, NextSlot>();
const MAX_PARSED = 500;

/**
 * The slots of a checked expression. A list or a range of fixed times fires once a day each, also where clocks are set:
 * a time that is left out fires at the first moment after it, one that comes twice fires at the first. Expressions with
 * a wildcard or a step in second, minute or hour follow the clock on the wall, as cron does.
 *
 * @throws {InvalidArgument} if croner refuses the expression or the zone, which another SDK may have stored.
 */
export async function cronSlots(expression: string, timeZone: string): Promise<NextSlot> {
  const id = `${timeZone} ${expression}`;
  const known = parsed.get(id);
  if (known !== undefined) return known;
  const { Cron } = await import("croner");
  try {
    const cron = new Cron(expression, { timezone: timeZone, fixedTimeRule: "no-wildcard" });
    // croner strips milliseconds, so a time within a second counts as the beginning of it.
    const next: NextSlot = (afterMs) => cron.nextRun(new Date(afterMs))?.getTime() ?? null;
    next(0);
    if (parsed.size >= MAX_PARSED) parsed.clear();
    parsed.set(id, next);
    return next;
  } catch (cause) {
    const where = `the expression "${expression}" in the time zone ${timeZone}`;
    const message = `${where} cannot be read; set the schedule again`;
    throw new InvalidArgument(message, { cause });
  }
}
