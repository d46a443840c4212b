/** The check of a cron expression, which needs no parser to be loaded and says what is wrong with which field. */

import { InvalidArgument } from "../core/errors/errors.ts";

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Names for numbers, from `min` on. */
  readonly names?: readonly string[];
}

const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const SECOND: Field = { name: "second", min: 0, max: 59 };
const DAY: Field = { name: "day of month", min: 1, max: 31 };
const MONTH: Field = { name: "month", min: 1, max: 12, names: MONTHS };
const WEEKDAY: Field = { name: "day of week", min: 0, max: 7, names: DAYS };
const FIVE: readonly Field[] = [
  { name: "minute", min: 0, max: 59 },
  { name: "hour", min: 0, max: 23 },
  DAY,
  MONTH,
  WEEKDAY,
];
const MONTH_DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const NICKNAMES: Readonly<Record<string, string>> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
};

/**
 * Checks an expression of five fields, or six with seconds first, and returns it with single spaces. It knows lists,
 * ranges, steps, names, `L` (the last day, or the last of a weekday as `5L`) and `#` (the n-th of a weekday as `1#2`).
 *
 * @throws {InvalidArgument} naming the field, and what it may hold.
 */
export function checkCron(option: string, value: unknown): string {
  if (typeof value !== "string") throw new InvalidArgument(`${option} must be a string, got ${typeof value}`);
  const given = value.trim().toUpperCase();
  const nickname = NICKNAMES[given.toLowerCase()];
  if (given.startsWith("@") && nickname === undefined) {
    const known = Object.keys(NICKNAMES).join(", ");
    throw new InvalidArgument(`${option} must be an expression or one of ${known}, got "${shown(value)}"`);
  }
  const parts = (nickname ?? given).split(/\s+/);
  if (parts.length !== 5 && parts.length !== 6) {
    const fields = "minute, hour, day of month, month, day of week, and before them a second if you need one";
    throw new InvalidArgument(
      `${option} must have 5 or 6 fields (${fields}), got ${given === "" ? 0 : parts.length} in "${shown(value)}"`,
    );
  }
  const fields = parts.length === 6 ? [SECOND, ...FIVE] : FIVE;
  const values = fields.map((field, i) => checkField(option, field, parts[i]!));
  const [days, months, weekdays] = values.slice(-3) as [Set<number> | null, Set<number>, unknown];
  if (weekdays === null && days !== null && !exists(days, months)) {
    throw new InvalidArgument(
      `${option} names a day that none of its months has, so it would never fire: "${shown(value)}"`,
    );
  }
  return parts.join(" ");
}

/** The numbers that a field names; null if it is a wildcard or needs a calendar. */
function checkField(option: string, field: Field, text: string): Set<number> | null {
  if (text === "?" && (field === DAY || field === WEEKDAY)) return null;
  const items = text.split(",").map((item) => checkItem(option, field, item));
  if (items.includes(null)) return field === MONTH ? new Set(MONTH_DAYS.map((_, i) => i + 1)) : null;
  return new Set((items as number[][]).flat());
}

function checkItem(option: string, field: Field, item: string): number[] | null {
  const wrong = (rule: string) =>
    new InvalidArgument(`${option} has a wrong ${field.name}: ${rule}, got "${shown(item)}"`);
  if (field === DAY && item === "L") return null;
  const calendar = field === WEEKDAY ? /^(\w+)(?:L|#([1-5]))$/.exec(item) : null;
  if (calendar !== null && numberOf(field, calendar[1]!) !== null) return null;
  const [, range, , step] = /^([^/]*)(\/(.*))?$/.exec(item)!;
  const stepBy = step === undefined ? 1 : Number(step);
  if (step !== undefined && (!/^\d{1,2}$/.test(step) || stepBy < 1 || stepBy > field.max))
    throw wrong(`a step is a number from 1 to ${field.max}`);
  if (range === "*") return step === undefined ? null : steps(field.min, field.max, stepBy);
  const [low, high, ...rest] = range!.split("-").map((text) => numberOf(field, text));
  if (rest.length > 0 || low === null || low === undefined || high === null) throw wrong(rule(field));
  if (high === undefined) {
    if (step !== undefined) throw wrong("a step follows * or a range, as in */5 or 0-30/5");
    return [low];
  }
  if (low > high) throw wrong("a range goes from the lower to the higher; write two ranges instead");
  return steps(low, high, stepBy);
}

function rule({ min, max, names }: Field): string {
  return `it takes numbers from ${min} to ${max}${names ? `, names such as ${names[1]}` : ""}, lists, ranges, *`;
}

function numberOf({ min, max, names }: Field, text: string): number | null {
  const named = names?.indexOf(text) ?? -1;
  if (named >= 0) return named + min;
  if (!/^\d{1,2}$/.test(text)) return null;
  const value = Number(text);
  return value >= min && value <= max ? value : null;
}

function steps(low: number, high: number, by: number): number[] {
  return Array.from({ length: Math.floor((high - low) / by) + 1 }, (_, i) => low + i * by);
}

function exists(days: ReadonlySet<number>, months: ReadonlySet<number>): boolean {
  return [...months].some((month) => [...days].some((day) => day <= MONTH_DAYS[month - 1]!));
}

function shown(text: string): string {
  return text.trim().slice(0, 60);
}
