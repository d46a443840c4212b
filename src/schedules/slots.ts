/** The slots of a timing: the next one after a time, and the last ones up to a time. */

import type { Timing } from "../core/operations/schedules.ts";
import { cronSlots, type NextSlot } from "./cron-slots.ts";

/** The slots of `timing`, between its start and its end, the start included and the end not. */
export async function slotsOf(timing: Timing): Promise<NextSlot> {
  const { cron, every_ms, time_zone, start_at_ms, end_at_ms } = timing;
  const next = cron === null ? everySlots(every_ms!, start_at_ms ?? 0) : await cronSlots(cron, time_zone);
  return (afterMs) => {
    const slot = next(start_at_ms === null ? afterMs : Math.max(afterMs, start_at_ms - 1));
    return slot === null || (end_at_ms !== null && slot >= end_at_ms) ? null : slot;
  };
}

/** Slots at a fixed distance, counted from `startMs`, so that every deployment finds the same ones. */
function everySlots(everyMs: number, startMs: number): NextSlot {
  return (afterMs) => startMs + Math.max(0, Math.floor((afterMs - startMs) / everyMs) + 1) * everyMs;
}

/**
 * The last slot in (afterMs, untilMs]; null if there is none. It bisects, so that a long outage of a schedule that
 * fires each second costs no more than a short one.
 */
export function lastSlot(next: NextSlot, afterMs: number, untilMs: number): number | null {
  const isDue = (ms: number): boolean => {
    const slot = next(ms);
    return slot !== null && slot <= untilMs;
  };
  if (!isDue(afterMs)) return null;
  let low = afterMs; // a slot follows
  let high = untilMs; // none does
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (isDue(middle)) low = middle;
    else high = middle;
  }
  return next(low);
}

/** The last `count` slots in (afterMs, untilMs], in their order. */
export function lastSlots(next: NextSlot, afterMs: number, untilMs: number, count: number): number[] {
  const slots: number[] = [];
  for (let until = untilMs; slots.length < count; ) {
    const slot = lastSlot(next, afterMs, until);
    if (slot === null) break;
    slots.unshift(slot);
    until = slot - 1;
  }
  return slots;
}
