// Which expressions are accepted: all that is accepted croner reads, and a wrong one names its field.

import { expect, test } from "vitest";
import { checkCron } from "../../src/schedules/check-cron.ts";
import { cronSlots } from "../../src/schedules/cron-slots.ts";
import { checkTimeZone } from "../../src/schedules/time-zone.ts";

const NOW = Date.parse("2026-11-30T00:00:00Z");

test.each([
  ["*/5 * * * *", "2026-11-30T00:05"],
  [" 0  9 * * mon-fri ", "2026-11-30T09:00"],
  ["@daily", "2026-12-01T00:00"],
  ["0 9 L * ?", "2026-11-30T09:00"],
  ["0 9 * * FRI#2", "2026-12-11T09:00"],
  ["0 9 * * 5L", "2026-12-25T09:00"],
  ["0 9 * JAN,DEC 7", "2026-12-06T09:00"],
  ["0 9 13 * 5", "2026-12-04T09:00"], // the 13th or a Friday
  ["1-5/2,30 * * * *", "2026-11-30T00:01"],
  ["*/30 0 0 29 2 *", "2028-02-29T00:00"],
])("%s", async (expression, next) => {
  const slots = await cronSlots(checkCron("cron", expression), "UTC");
  expect(new Date(slots(NOW)!).toISOString()).toBe(`${next}:00.000Z`);
});

test.each([
  ["", "5 or 6 fields"],
  ["0 9 * *", "5 or 6 fields"],
  ["60 * * * *", "cron has a wrong minute: it takes numbers from 0 to 59"],
  ["0 24 * * *", "wrong hour"],
  ["0 9 0 * *", "wrong day of month"],
  ["0 9 * FOO *", "wrong month: it takes numbers from 1 to 12, names such as FEB"],
  ["0 9 * * 8", "wrong day of week"],
  ["0 9 * * 1#6", "wrong day of week"],
  ["5/5 * * * *", "a step follows * or a range"],
  ["*/0 * * * *", "a step is a number from 1 to 59"],
  ["0 22-2 * * *", "write two ranges instead"],
  ["0 9 30 2 *", "names a day that none of its months has"],
  ["@dayly", "one of @hourly, @daily"],
])("refuses %s", (expression, message) => {
  expect(() => checkCron("cron", expression)).toThrow(message);
});

test("a random expression that is accepted can be read, and one that croner refuses is not accepted", async () => {
  const items = [
    "*",
    "0",
    "7",
    "12",
    "31",
    "59",
    "1-5",
    "5-1",
    "*/7",
    "*/60",
    "3/2",
    "L",
    "MON",
    "MAR",
    "5L",
    "2#3",
    "?",
  ];
  let state = 7;
  const random = (n: number) => {
    state = (state * 48271) % 2147483647;
    return state % n;
  };
  let accepted = 0;
  for (let i = 0; i < 20_000; i++) {
    const field = () =>
      Array.from({ length: random(4) === 0 ? 2 : 1 }, () => items[random(items.length)]).join();
    const expression = Array.from({ length: 5 }, field).join(" ");
    let checked: string;
    try {
      checked = checkCron("cron", expression);
    } catch {
      continue;
    }
    accepted++;
    await expect(cronSlots(checked, "UTC"), expression).resolves.toBeTypeOf("function");
  }
  expect(accepted).toBeGreaterThan(30);
});

test("a time zone is one that the platform knows", () => {
  expect(checkTimeZone("timeZone", undefined)).toBe("UTC");
  expect(checkTimeZone("timeZone", "Australia/Lord_Howe")).toBe("Australia/Lord_Howe");
  for (const wrong of ["Mars/Olympus", "", "+01:00", 7])
    expect(() => checkTimeZone("timeZone", wrong)).toThrow(/timeZone must be an IANA time zone .* got/);
});
