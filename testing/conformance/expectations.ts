// The assertions that scenarios may make about results.

import { isDeepStrictEqual } from "node:util";
import { dereference, lookup, resolve, type Saved, show } from "./references.ts";
import { ASSERTIONS, isObject, type Step } from "./scenario.ts";

type Assertions = Readonly<Record<string, unknown>>;

/** The assertions of a step: those that stand on it, and those under its `expect`. */
export function assertionsOf(step: Step): Assertions[] {
  const own = ASSERTIONS.filter((name) => name in step).map((name) => [name, step[name]] as const);
  return [Object.fromEntries(own), step.expect ?? {}];
}

/** Says how a result differs from what a scenario expects of it, field by field; empty if it does not. */
export function mismatches(expect: Assertions, result: unknown, saved: Saved): string[] {
  return Object.entries(expect).flatMap(([rule, argument]) => {
    const check = RULES[rule];
    if (check === undefined)
      return [`there is no expectation "${rule}"; there are ${Object.keys(RULES).join(", ")}`];
    return check(argument, result, saved);
  });
}

type Rule = (argument: unknown, result: unknown, saved: Saved) => string[];

const RULES: Record<string, Rule> = {
  equals: (expected, result, saved) => differences(resolve(expected, saved), result, ""),
  equalsRef: byReference((value, other) => isDeepStrictEqual(value, other), "equal to"),
  notEqualsRef: byReference((value, other) => !isDeepStrictEqual(value, other), "different from"),
  greaterThanRef: byReference(
    (value, other) => typeof value === "number" && typeof other === "number" && value > other,
    "greater than",
  ),
  length: (expected, result) =>
    places(isObject(expected) ? Object.keys(expected) : true, result).flatMap(({ name, value }) => {
      const length = isObject(expected) ? expected[name] : expected;
      if (!Array.isArray(value)) return [`${name}: expected a list, got ${show(value)}`];
      return value.length === length
        ? []
        : [`${name}: expected ${length} items, got ${value.length}: ${show(value)}`];
    }),
  notNull: (where, result) =>
    places(where, result).flatMap(({ name, value }) =>
      value === null || value === undefined ? [`${name}: expected a value, got ${show(value)}`] : [],
    ),
  isNull: (where, result) =>
    places(where, result).flatMap(({ name, value }) =>
      value === null || value === undefined ? [] : [`${name}: expected null, got ${show(value)}`],
    ),
};

/** Compares the whole result with one reference or plain value, or fields of it with one each. */
function byReference(holds: (value: unknown, other: unknown) => boolean, relation: string): Rule {
  return (argument, result, saved) => {
    const pairs = isObject(argument) ? Object.entries(argument) : [["result", argument] as const];
    return pairs.flatMap(([field, reference]) => {
      const value = isObject(argument) ? lookup(result, field) : result;
      const other = typeof reference === "string" ? dereference(reference, saved) : reference;
      return holds(value, other)
        ? []
        : [`${field}: expected ${relation} ${reference} (${show(other)}), got ${show(value)}`];
    });
  };
}

/** The result itself (true), one field of it, or several. */
function places(where: unknown, result: unknown): { name: string; value: unknown }[] {
  if (where === true) return [{ name: "result", value: result }];
  const fields = isObject(where) ? Object.keys(where) : [where].flat();
  return fields.map((field) => ({ name: String(field), value: lookup(result, String(field)) }));
}

/**
 * A row has to hold the expected fields and may hold more; the fields themselves have to match exactly. A row that is
 * missing has fields that are all null. Lists match row by row.
 */
function differences(expected: unknown, actual: unknown, path: string): string[] {
  const here = path === "" ? "result" : path;
  const at = (field: string) => (path === "" ? field : `${path}.${field}`);
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length)
      return [`${here}: expected ${show(expected)}, got ${show(actual)}`];
    return expected.flatMap((item, i) => differences(item, actual[i], at(String(i))));
  }
  if (isObject(expected) && Object.keys(expected).length > 0) {
    return Object.entries(expected).flatMap(([field, item]) =>
      exactly(item, lookup(actual, field) ?? null, at(field)),
    );
  }
  return exactly(expected, actual, here);
}

function exactly(expected: unknown, actual: unknown, here: string): string[] {
  return isDeepStrictEqual(expected, actual)
    ? []
    : [`${here}: expected ${show(expected)}, got ${show(actual)}`];
}
