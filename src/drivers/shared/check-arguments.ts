// Checks what a driver is called with, its client and its options, before anything is sent.

import { InvalidArgument } from "../../core/errors/wadi-error.ts";

/** What an option accepts: one of these words, or a type; null if another function checks it. */
type Rule = readonly string[] | "boolean" | "milliseconds" | null;

/** One rule for each option of a driver, and none for anything else. */
type Rules<Options> = { readonly [Option in keyof Options]-?: Rule };

/**
 * Checks the options of a driver, so that a misspelt one is not ignored.
 * @throws {InvalidArgument} naming the option.
 */
export function checkOptions<Options extends object>(
  driver: string,
  options: Options,
  rules: Rules<Options>,
): void {
  for (const [option, value] of Object.entries(options)) {
    const rule = Object.hasOwn(rules, option) ? rules[option as keyof Options] : undefined;
    if (rule === undefined) {
      throw new InvalidArgument(
        `${driver} has no option "${option}"; it takes ${Object.keys(rules).join(", ")}`,
      );
    }
    if (value !== undefined && rule !== null && !fits(value, rule)) {
      throw new InvalidArgument(
        `${option} of ${driver} must be ${describeRule(rule)}, got ${show(value, rule)}`,
      );
    }
  }
}

function describeRule(rule: NonNullable<Rule>): string {
  if (rule === "milliseconds") return "an integer >= 0 (milliseconds)";
  return rule === "boolean" ? "true or false" : `one of ${rule.join(", ")}`;
}

/** Only a string in place of a word is quoted: any other may be a connection string. */
function show(value: unknown, rule: Rule): string {
  if (typeof value === "string" && Array.isArray(rule)) return `"${value.slice(0, 40)}"`;
  return typeof value === "number" || typeof value === "boolean" || value === null
    ? String(value)
    : typeof value;
}

function fits(value: unknown, rule: NonNullable<Rule>): boolean {
  if (rule === "milliseconds") return Number.isSafeInteger(value) && (value as number) >= 0;
  return typeof rule === "string" ? typeof value === rule : rule.includes(value as string);
}

/**
 * Checks that a driver was given a client of its kind. Otherwise a missing binding, or a URL in place of a client,
 * would look like an outage of the database at the first statement. The value is never quoted: it may be a connection
 * string.
 *
 * @throws {InvalidArgument}
 */
export function checkClient(
  driver: string,
  client: unknown,
  expected: string,
  methods: readonly string[],
): void {
  const isObject = Object(client) === client;
  const missing = methods.find((method) => !isObject || typeof (client as never)[method] !== "function");
  if (missing === undefined) return;
  const isDrizzle = isObject && Object(client as { $client?: unknown }).$client !== undefined;
  const got = isDrizzle
    ? "a Drizzle database; pass it to fromDrizzle of wadi/drizzle"
    : isObject
      ? `an object without ${missing}()`
      : client === null
        ? "null"
        : typeof client;
  throw new InvalidArgument(`${driver} expects ${expected}, got ${got}`);
}
