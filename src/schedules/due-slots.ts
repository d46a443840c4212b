/** Which slots of a due schedule get a task, by what it says about missed ones, and which slot comes next. */

import type { DueSchedule } from "../core/operations/schedules.ts";
import type { NextSlot } from "./cron-slots.ts";
import { lastSlots } from "./slots.ts";

/** The slots to fire now, in their order, and the slot to wait for. */
export interface DueSlots {
  readonly fire: readonly number[];
  /** Null: the schedule has no further slot. */
  readonly nextMs: number | null;
}

/** Decides for a schedule that stands at a slot at or before `nowMs`. */
export function dueSlots(schedule: DueSchedule, next: NextSlot, nowMs: number): DueSlots {
  const { at_ms, from_ms, policy } = schedule;
  const graceFromMs = policy.grace_ms === null ? 0 : nowMs - policy.grace_ms;
  const firstMs = Math.max(at_ms, from_ms, graceFromMs);
  const count = policy.missed === "all" ? policy.max! : 1;
  return { fire: lastSlots(next, firstMs - 1, nowMs, count), nextMs: next(nowMs) };
}

/** How long after its slot a task is due: the same for each computation, and spread evenly from 0 to `jitterMs`. */
export function jitterOf(key: string, jitterMs: number): number {
  if (jitterMs === 0) return 0;
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  return ((hash ^ (hash >>> 16)) >>> 0) % (jitterMs + 1);
}
