import { InvalidArgument } from "../../core/errors/wadi-error.ts";

/** What an option takes: one of these words, or a type; null where that is checked elsewhere. */
type Rule = readonly string[] | "boolean" | "milliseconds" | null;

/** Checks the options of a driver, so that a misspelt one is not ignored. @throws {InvalidArgument} naming the option. */
export function checkOptions(driver: string, options: object, rules: Readonly<Record<string, Rule>>): void {
  for (const [option, value] of Object.entries(options)) {
    const rule = Object.hasOwn(rules, option) ? rules[option] : undefined;
    if (rule === undefined) {
      throw new InvalidArgument(
        `${driver} has no option "${option}"; it takes ${Object.keys(rules).join(", ")}`,
      );
    }
    if (value !== undefined && rule !== null && !fits(value, rule)) {
      throw new InvalidArgument(`${option} of ${driver} must be ${wanted(rule)}, got ${found(value)}`);
    }
  }
}

function wanted(rule: NonNullable<Rule>): string {
  if (rule === "milliseconds") return "an integer >= 0 (milliseconds)";
  return rule === "boolean" ? "true or false" : `one of ${rule.join(", ")}`;
}

/** A string is not quoted: in the place of another option it may be a connection string. */
function found(value: unknown): string {
  return typeof value === "number" || typeof value === "boolean" || value === null
    ? String(value)
    : typeof value;
}

function fits(value: unknown, rule: NonNullable<Rule>): boolean {
  if (rule === "milliseconds") return Number.isSafeInteger(value) && (value as number) >= 0;
  return typeof rule === "string" ? typeof value === rule : rule.includes(value as string);
}

/**
 * Checks that a driver was given a client of its kind. A missing binding, or a URL in the place of a client, would otherwise be
 * told by the first statement, as a database that is away. The value is never quoted: it may be a connection string.
 *
 * @throws {InvalidArgument}
 */
export function checkClient(
  driver: string,
  client: unknown,
  wanted: string,
  methods: readonly string[],
): void {
  const isObject = Object(client) === client;
  const lacks = methods.find((method) => !isObject || typeof (client as never)[method] !== "function");
  if (lacks === undefined) return;
  const isDrizzle = isObject && Object(client as { $client?: unknown }).$client !== undefined;
  const got = isDrizzle
    ? "a Drizzle database; pass it to fromDrizzle of wadi/drizzle"
    : isObject
      ? `an object without ${lacks}()`
      : client === null
        ? "null"
        : typeof client;
  throw new InvalidArgument(`${driver} takes ${wanted}, got ${got}`);
}
