/**
 * Checks of arguments. Each throws `InvalidArgument` before any I/O, and names the option, the rule and the value.
 */

import { InvalidArgument } from "./errors/errors.ts";
import { checkIndexed } from "./index-limits.ts";
import { NO_LIMIT } from "./infinity.ts";
import { isRecord } from "./json/is-record.ts";
import { unknownOptionAdvice } from "./unknown-option-advice.ts";

/** Longest name, queue, key or correlation id, in characters; an index limits their bytes too. */
const MAX_TEXT = 1024;

/** Longest delay, 3000 years: some clients refuse to read a due time past 2^53. */
export const MAX_DELAY_MS = 1e14;

/** Describes a wrong value for a message, without the text of a string, which may be secret. */
export function show(value: unknown): string {
  if (typeof value === "number" || typeof value === "boolean" || value === null) return String(value);
  return Array.isArray(value) ? "an array" : typeof value;
}

/** Checks an integer option; the message names the option, the rule and the value. */
export function integer(option: string, value: unknown, min: number, max = NO_LIMIT): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < min || value > max) {
    const rule = max === NO_LIMIT ? `an integer >= ${min}` : `an integer from ${min} to ${max}`;
    throw new InvalidArgument(`${option} must be ${rule}, got ${show(value)}`);
  }
  return value;
}

/**
 * Checks a point in time, in epoch milliseconds. A small number is probably seconds or a duration, and would be taken
 * for a time long ago; 0 is accepted as "as early as possible".
 */
export function instant(option: string, value: Date | number): number {
  const ms: unknown = value instanceof Date ? value.getTime() : value;
  if (Number.isSafeInteger(ms) && (ms === 0 || (ms as number) >= 1e11)) return ms as number;
  const found = value instanceof Date && Number.isNaN(ms) ? "an invalid Date" : show(ms);
  const isSmall = typeof ms === "number" && ms > 0 && ms < 1e11;
  const guess = isSmall ? ", which looks like seconds or a duration" : "";
  throw new InvalidArgument(`${option} must be a Date or epoch milliseconds, got ${found}${guess}`);
}

/** Checks a text that is stored in a column. Messages never quote it. */
export function text(option: string, value: unknown, maxBytes?: number): string {
  if (typeof value !== "string" || value === "") {
    throw new InvalidArgument(
      `${option} must be a non-empty string, got ${value === "" ? `""` : show(value)}`,
    );
  }
  if (value.length > MAX_TEXT) {
    throw new InvalidArgument(`${option} must be at most ${MAX_TEXT} characters, got ${value.length}`);
  }
  if (value.includes("\0") || !value.isWellFormed()) {
    throw new InvalidArgument(`${option} must not contain a NUL character or a lone surrogate; remove it`);
  }
  if (value.startsWith("\ufeff")) {
    throw new InvalidArgument(
      `${option} must not begin with a byte order mark (U+FEFF), which some clients drop; remove it`,
    );
  }
  return checkIndexed(option, value, maxBytes);
}

export function optionalText(option: string, value: unknown): string | null {
  return value === undefined || value === null ? null : text(option, value);
}

/** Checks a progress. Null leaves it unchanged. */
export function fraction(option: string, value: unknown): number | null {
  if (value === null) return null;
  if (typeof value !== "number" || !(value >= 0 && value <= 1)) {
    throw new InvalidArgument(`${option} must be a number from 0 to 1, or null, got ${show(value)}`);
  }
  return value;
}

/** Checks a signal; its controller is easily passed by mistake. */
export function optionalSignal(value: unknown): AbortSignal | undefined {
  if (value === undefined) return undefined;
  const { addEventListener, throwIfAborted, signal } = Object(value);
  if (typeof addEventListener === "function" && typeof throwIfAborted === "function")
    return value as AbortSignal;
  const found = signal === undefined ? show(value) : "an AbortController; pass its signal";
  throw new InvalidArgument(`signal must be an AbortSignal, got ${found}`);
}

/** Checks an option that is true, false or undefined. */
export function optionalFlag(option: string, value: unknown): boolean | undefined {
  if (value === undefined || typeof value === "boolean") return value;
  throw new InvalidArgument(`${option} must be true or false, got ${show(value)}`);
}

/** Checks that the value is one of the allowed words. */
export function oneOf<T extends string>(option: string, value: unknown, allowed: readonly T[]): T {
  if (!allowed.includes(value as T)) {
    const found = typeof value === "string" ? `"${value.slice(0, 40)}"` : show(value);
    throw new InvalidArgument(`${option} must be one of ${allowed.join(", ")}, got ${found}`);
  }
  return value as T;
}

/** Checks that a value is an object with named fields. */
export function requireRecord(what: string, value: unknown): void {
  if (!isRecord(value)) throw new InvalidArgument(`${what} must be an object, got ${show(value)}`);
}

/**
 * Checks that options are an object with known fields only, so that a misspelt option is not ignored.
 * @param bag Names the object in messages.
 */
export function onlyKnown(
  what: string,
  value: object | undefined,
  known: readonly string[],
  bag = `the options of ${what}`,
): void {
  if (value === undefined) return;
  requireRecord(bag, value);
  for (const field of Object.keys(value)) {
    if (!known.includes(field)) {
      const renamed = unknownOptionAdvice(what, field, known);
      const advice = renamed === undefined ? `it takes ${known.join(", ")}` : `in Wadi it is ${renamed}`;
      throw new InvalidArgument(`${what} has no option "${field.slice(0, 40)}"; ${advice}`);
    }
  }
}
