// The scenarios of the protocol use every operation, argument and assertion that the interpreter knows.

import { describe, expect, it } from "vitest";
import { assertionsOf } from "../../testing/conformance/expectations.ts";
import { operations } from "../../testing/conformance/operations.ts";
import { ASSERTIONS, loadScenarios, OWN_SCENARIOS } from "../../testing/conformance/scenario.ts";

const scenarios = loadScenarios(OWN_SCENARIOS);
const steps = scenarios.flatMap((scenario) => scenario.steps);

/** Other spellings of an argument, for scenarios that are not ours. */
const SYNONYMS = ["progress.value"];

/** What a scenario may expect to be null: a misspelt field would be null as well. */
const FIELDS = [
  ...["id", "status", "worker_id", "lease_until_ms", "completed_at_ms", "cancel_requested_at_ms", "error"],
  ...[
    "payload",
    "error.details",
    "result",
    "progress",
    "message",
    "correlation_id",
    "parent_id",
    "queued",
    true,
  ],
];

describe("the scenarios", () => {
  it("use every op with every argument", () => {
    const used = new Set(
      steps.flatMap(({ op, args = {} }) => Object.keys(args).map((name) => `${op}.${name}`)),
    );
    const all = Object.entries(operations).flatMap(([op, { args }]) => args.map((name) => `${op}.${name}`));
    expect(all.filter((name) => !used.has(name))).toEqual(SYNONYMS);
  });

  it("use every assertion under `expect` and on a step", () => {
    const all = [...ASSERTIONS].sort();
    const used = (assertions: readonly object[]) =>
      [...new Set(assertions.flatMap((rules) => Object.keys(rules)))].sort();
    expect(used(steps.map((step) => assertionsOf(step)[0]!))).toEqual(all);
    expect(used(steps.map(({ expect: rules = {} }) => rules))).toEqual(all);
  });

  it("assert null of fields that exist", () => {
    const fields = steps.flatMap((step) => assertionsOf(step).flatMap(({ isNull }) => isNull ?? []));
    expect([...new Set(fields)].filter((field) => !FIELDS.includes(field as never))).toEqual([]);
  });

  it("each have a different name and a description", () => {
    expect(new Set(scenarios.map(({ name }) => name)).size).toBe(scenarios.length);
    expect(new Set(scenarios.map(({ description }) => description)).size).toBe(scenarios.length);
    expect(
      scenarios.filter(({ name, description }) => !/^[a-z-]+$/.test(name) || description === ""),
    ).toEqual([]);
  });
});
