// The scenarios notice each wrong predicate that is put into the SQL.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Arena, openArena } from "../../testing/conformance/arena.ts";
import { MUTATIONS, type Mutation, mutated } from "../../testing/conformance/mutations.ts";
import { loadScenarios, OWN_SCENARIOS } from "../../testing/conformance/scenario.ts";
import { pickTargets } from "../../testing/targets.ts";

const scenarios = loadScenarios(OWN_SCENARIOS);

describe.each(pickTargets(["better-sqlite3-memory", "pg"]))("on $name", (target) => {
  let mutation: Mutation | null;
  let arena: Arena;

  beforeAll(async () => {
    arena = await openArena(target, (executor) =>
      mutation === null ? executor : mutated(executor, mutation),
    );
  });

  afterAll(() => arena?.close());

  async function failures(prefix: string): Promise<string[]> {
    const errors: string[] = [];
    for (const scenario of scenarios.filter(({ name }) => name.startsWith(prefix))) {
      await arena.run(scenario).catch((error: Error) => errors.push(error.message));
    }
    return errors;
  }

  it.each(MUTATIONS)("the scenarios notice once it no longer holds that $breaks", async (mutant) => {
    mutation = null;
    expect(await failures(mutant.scenarios)).toEqual([]);
    mutation = mutant;
    const errors = await failures(mutant.scenarios);
    expect(errors).not.toEqual([]);
    // It is the behaviour that has to fail, not a mutant that is no SQL or breaks nothing.
    const wrong = errors.filter(
      (error) => !/^(step|at the end)/.test(error) || error.includes("DriverError"),
    );
    expect(wrong).toEqual([]);
  });
});
