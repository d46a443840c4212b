/** The schedules of the simulation, and when each of them must fire, computed without Wadi. */

import type { Schedule } from "../../../src/index.ts";
import { slotKey } from "../../../src/producer/schedules/schedule-name.ts";
import { type DailyTimes, ZoneClock } from "./zone-clock.ts";

export const START = Date.parse("2026-01-01T00:00:00Z");
export const DAY = 24 * 3_600_000;
const EVERY = 95 * 60_000;
const GRACE = 40 * 60_000;

/** A change each, some at midnight, one by 30 minutes. */
const ZONES = [
  "America/New_York",
  "America/St_Johns",
  "America/Santiago",
  "Europe/London",
  "Europe/Berlin",
  "Asia/Beirut",
  "Australia/Lord_Howe",
  "Pacific/Auckland",
];

const each = (from: number, to: number, by: number) =>
  Array.from({ length: Math.floor((to - from) / by) + 1 }, (_, i) => from + i * by);

const EXPRESSIONS: readonly (DailyTimes & { readonly cron: string })[] = [
  { cron: "30 2 * * *", minutes: [150], isWild: false },
  { cron: "30 0 * * *", minutes: [30], isWild: false },
  { cron: "15,45 1-3 * * *", minutes: [75, 105, 135, 165, 195, 225], isWild: false },
  { cron: "0 */2 * * *", minutes: each(0, 1439, 120), isWild: true },
  { cron: "*/20 1 * * *", minutes: [60, 80, 100], isWild: true },
];

/** A schedule, its slots, and which of them get a task. */
export interface SimulatedSchedule {
  readonly schedule: Schedule;
  readonly slots: readonly number[];
}

export interface SchedulePlan {
  readonly schedules: readonly SimulatedSchedule[];
  /** When the clocks of any zone are set. */
  readonly changes: readonly number[];
}

export function makePlan(days: number, startMs = START): SchedulePlan {
  const endMs = startMs + days * DAY;
  const clocks = ZONES.map((timeZone) => ({ timeZone, clock: new ZoneClock(timeZone, startMs, endMs) }));
  const inZones = clocks.flatMap(({ timeZone, clock }) =>
    EXPRESSIONS.map(({ cron, ...times }, i) => ({
      schedule: { name: `${timeZone} ${cron}`, task: "slot", cron, timeZone, ...policyOf(i) } as Schedule,
      slots: clock.slots(times),
    })),
  );
  const every = {
    name: "every",
    task: "slot",
    everyMs: EVERY,
    startAt: startMs + 1000,
    missed: "all",
    max: 100,
  };
  const everySlots = each(startMs + 1000, endMs, EVERY);
  return {
    schedules: [...inZones, { schedule: every as Schedule, slots: everySlots }],
    changes: clocks.flatMap(({ clock }) => clock.changes).sort((a, b) => a - b),
  };
}

/** Each policy with fixed times and with wildcards. */
function policyOf(expression: number): Partial<Schedule> {
  if (expression === 1) return { missed: "latest" };
  if (expression === 4) return { missed: "skip", graceMs: GRACE };
  if (expression === 2) return { missed: "latest", graceMs: 3 * 3_600_000, overlap: "replace" };
  return { missed: "all", max: 100 };
}

/** The keys of the tasks that a schedule must have queued if drains ran at `visits`, in their order. */
export function expectedKeys({ schedule, slots }: SimulatedSchedule, visits: readonly number[]): string[] {
  const { name, missed, graceMs = Number.POSITIVE_INFINITY } = schedule;
  const keys: string[] = [];
  let next = 0;
  for (const visit of visits) {
    const first = next;
    while (next < slots.length && slots[next]! <= visit) next++;
    const due = slots.slice(first, next).filter((slot) => visit - slot <= graceMs);
    for (const slot of missed === "all" ? due : due.slice(-1)) keys.push(slotKey("default", name, slot));
  }
  return keys;
}
