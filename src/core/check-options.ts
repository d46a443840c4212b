/** Options as a table: which ones there are, what each accepts, and its default. */

import { InvalidArgument } from "./errors/errors.ts";
import { MAX_TIMER_MS } from "./timers.ts";
import { integer, onlyKnown, show } from "./validate.ts";

/** Checks the value of an option, which is undefined if it was not given, and returns the value to use. */
export type Check<T> = (option: string, value: unknown) => T;

/** A table that has all of these options and no other; use it with `satisfies`. */
export type CompleteChecks<Options> = Checks<{ readonly [Option in keyof Options]: unknown }>;

/** What a table makes of the options. */
export type Checked<Table> = {
  readonly [Option in keyof Table]: Table[Option] extends Check<infer T> ? T : never;
};

/** The checks whose results are `Checked`. */
export type Checks<Checked> = { readonly [Option in keyof Checked]-?: Check<Checked[Option]> };

/**
 * Checks options in the order of their table, after their names.
 *
 * @param prefix Stands before the name of an option in messages.
 * @throws {InvalidArgument} naming an option that is unknown or out of range.
 */
export function checkOptions<Checked>(
  what: string,
  options: object | undefined,
  checks: Checks<Checked>,
  prefix = "",
): Checked {
  const names = Object.keys(checks) as (keyof Checked & string)[];
  onlyKnown(what, options, names, prefix === "" ? undefined : what);
  const checked: Partial<Checked> = {};
  for (const option of names) {
    checked[option] = checks[option](prefix + option, options?.[option as never]);
  }
  return checked as Checked;
}

/** An integer; `fallback` if it is not given. */
export function integerFrom(min: number, max?: number, fallback?: number): Check<number> {
  return (option, value) => integer(option, fallback === undefined ? value : (value ?? fallback), min, max);
}

/** What `check` accepts; null if it is not given. */
export function optional<T>(check: Check<T>): Check<T | null> {
  return (option, value) => (value === undefined ? null : check(option, value));
}

/** What `check` accepts; `fallback` only for undefined. */
export function withDefault<T>(check: Check<T>, fallback: T): Check<T> {
  return (option, value = fallback) => check(option, value);
}

/** Milliseconds; null if they are not given. */
export const optionalMs: Check<number | null> = optional(integerFrom(1, MAX_TIMER_MS));

/** A function, or undefined. */
export function optionalFunction<T>(option: string, value: unknown): T {
  if (value === undefined || typeof value === "function") return value as T;
  throw new InvalidArgument(`${option} must be a function, got ${show(value)}`);
}

/** An option that is checked elsewhere. */
export const unchecked: Check<never> = (_, value) => value as never;
