import { describe, expect, it } from "vitest";
import { operations } from "./operations.ts";
import { loadScenarios, OWN_SCENARIOS } from "./scenario.ts";

const scenarios = loadScenarios(OWN_SCENARIOS);
const steps = scenarios.flatMap((scenario) => scenario.steps);

/** Other spellings of an argument, for scenarios that are not ours. */
const SYNONYMS = ["stats.queue", "progress.value"];

describe("the scenarios", () => {
  it("use every op with every argument", () => {
    const used = new Set(
      steps.flatMap(({ op, args = {} }) => Object.keys(args).map((name) => `${op}.${name}`)),
    );
    const all = Object.entries(operations).flatMap(([op, { args }]) => args.map((name) => `${op}.${name}`));
    expect(all.filter((name) => !used.has(name))).toEqual(SYNONYMS);
  });

  it("use every expectation", () => {
    const used = new Set(steps.flatMap(({ expect: rules = {} }) => Object.keys(rules)));
    expect([...used].sort()).toEqual(
      ["equals", "equalsRef", "greaterThanRef", "isNull", "length", "notEqualsRef", "notNull"].sort(),
    );
  });

  it("each have a name and a description of their own", () => {
    expect(new Set(scenarios.map(({ name }) => name)).size).toBe(scenarios.length);
    expect(new Set(scenarios.map(({ description }) => description)).size).toBe(scenarios.length);
    expect(
      scenarios.filter(({ name, description }) => !/^[a-z-]+$/.test(name) || description === ""),
    ).toEqual([]);
  });
});
