// The slots of expressions where clocks are set, and the last ones after an outage.

import { describe, expect, test } from "vitest";
import { cronSlots } from "../../src/schedules/cron-slots.ts";
import { dueSlots, jitterOf } from "../../src/schedules/due-slots.ts";
import { lastSlot, lastSlots, slotsOf } from "../../src/schedules/slots.ts";

const at = (text: string) => Date.parse(`${text}Z`);

async function between(cron: string, timeZone: string, from: string, to: string): Promise<string[]> {
  const next = await cronSlots(cron, timeZone);
  const slots: string[] = [];
  for (let slot = next(at(from)); slot !== null && slot <= at(to); slot = next(slot))
    slots.push(new Date(slot).toISOString().slice(5, 16));
  return slots;
}

describe("a fixed time fires once a day", () => {
  test("at its first occurrence if the clock shows it twice", async () => {
    const fold = (cron: string) => between(cron, "America/New_York", "2026-11-01T03:00", "2026-11-01T12:00");
    expect(await fold("30 1 * * *")).toEqual(["11-01T05:30"]);
    expect(await fold("0 0-3 * * *")).toEqual(["11-01T04:00", "11-01T05:00", "11-01T07:00", "11-01T08:00"]);
    expect(
      await between("45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00", "2026-04-05T12:00"),
    ).toEqual(["04-04T14:45"]);
  });

  test("at the end of the gap if the clock leaves it out", async () => {
    const gap = (cron: string) => between(cron, "America/New_York", "2026-03-08T03:00", "2026-03-08T12:00");
    expect(await gap("30 2 * * *")).toEqual(["03-08T07:00"]);
    expect(await gap("0 1-4 * * *")).toEqual(["03-08T06:00", "03-08T07:00", "03-08T08:00"]);
    expect(
      await between("15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00", "2026-10-04T12:00"),
    ).toEqual(["10-03T15:30"]);
  });
});

describe("a wildcard or a step follows the clock on the wall", () => {
  test("twice where it shows a time twice, and never where it leaves it out", async () => {
    const fold = await between("0 */2 * * *", "Europe/Berlin", "2026-10-24T22:30", "2026-10-25T03:30");
    expect(fold).toEqual(["10-25T00:00", "10-25T01:00", "10-25T03:00"]);
    const gap = await between("0 */2 * * *", "Europe/Berlin", "2026-03-28T22:30", "2026-03-29T02:30");
    expect(gap).toEqual(["03-28T23:00", "03-29T02:00"]);
  });

  test("and so each quarter of an hour has its slot, also where a clock is set by 30 minutes", async () => {
    const fold = await between("*/15 * * * *", "Australia/Lord_Howe", "2026-04-04T14:29", "2026-04-04T15:31");
    expect(fold).toEqual(["04-04T14:30", "04-04T14:45", "04-04T15:00", "04-04T15:15", "04-04T15:30"]);
  });
});

describe("the last slots up to a time", () => {
  test("are those that a walk over all of them finds", async () => {
    for (const [cron, zone] of [
      ["0 */2 * * *", "Europe/Berlin"],
      ["15,45 1-3 * * *", "Australia/Lord_Howe"],
      ["*/7 * * * * *", "America/Santiago"],
    ] as const) {
      const next = await cronSlots(cron, zone);
      const from = at("2026-04-04T00:00");
      const all: number[] = [];
      for (let slot = next(from); slot! <= from + 2 * 86_400_000; slot = next(slot!)) all.push(slot!);
      expect(lastSlots(next, from, from + 2 * 86_400_000, 40)).toEqual(all.slice(-40));
    }
  });

  test("cost no walk over an outage of years", async () => {
    const next = await cronSlots("* * * * * *", "Europe/Berlin");
    let calls = 0;
    const counted = (ms: number) => {
      calls++;
      return next(ms);
    };
    expect(lastSlot(counted, at("2016-01-01T00:00"), at("2026-01-01T00:00") + 500)).toBe(
      at("2026-01-01T00:00"),
    );
    expect(calls).toBeLessThan(60);
  });

  test("include none after the end and before the start", async () => {
    const timing = {
      cron: null,
      every_ms: 60_000,
      time_zone: "UTC",
      start_at_ms: 90_000,
      end_at_ms: 210_000,
    };
    const next = await slotsOf(timing);
    expect([next(0), next(90_000), next(150_000)]).toEqual([90_000, 150_000, null]);
  });
});

describe("of missed slots", () => {
  const HOUR = 3_600_000;
  const due = (missed: "latest" | "skip" | "all", grace_ms: number | null, max: number | null = null) => {
    const timing = { cron: null, every_ms: HOUR, time_zone: "UTC", start_at_ms: null, end_at_ms: null };
    const policy = { missed, grace_ms, max, jitter_ms: 0 };
    const common = { group: "g", name: "n", overlap: "allow", dynamic: false, limits: null } as const;
    return slotsOf(timing).then((next) => {
      const schedule = { ...common, timing, policy, at_ms: 10 * HOUR, from_ms: 0, last_slot_ms: null };
      const { fire, nextMs } = dueSlots(schedule, next, 13.5 * HOUR);
      return [...fire, nextMs].map((ms) => ms! / HOUR);
    });
  };

  test("the policy says which get a task", async () => {
    expect(await due("latest", null)).toEqual([13, 14]);
    expect(await due("latest", HOUR / 4)).toEqual([14]);
    expect(await due("skip", HOUR)).toEqual([13, 14]);
    expect(await due("all", null, 100)).toEqual([10, 11, 12, 13, 14]);
    expect(await due("all", null, 2)).toEqual([12, 13, 14]);
    expect(await due("all", 2 * HOUR, 100)).toEqual([12, 13, 14]);
  });
});

test("jitter is spread evenly, and the same for each computation", () => {
  const jitters = Array.from({ length: 2000 }, (_, i) => jitterOf(`default/report@${i}`, 999));
  expect(Math.min(...jitters)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...jitters)).toBeLessThanOrEqual(999);
  const mean = jitters.reduce((sum, ms) => sum + ms, 0) / jitters.length;
  expect(Math.abs(mean - 500)).toBeLessThan(30);
  expect(jitterOf("default/report@1", 999)).toBe(jitters[1]);
  expect(jitterOf("a", 0)).toBe(0);
});
