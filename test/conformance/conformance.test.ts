// Every scenario of the protocol holds on every database.

import { afterAll, beforeAll, describe, it } from "vitest";
import { type Arena, openArena } from "../../testing/conformance/arena.ts";
import { loadScenarios, OWN_SCENARIOS } from "../../testing/conformance/scenario.ts";
import { targets } from "../../testing/targets.ts";

const scenarios = loadScenarios(OWN_SCENARIOS);

describe.each(targets)("$name", (target) => {
  let arena: Arena;

  beforeAll(async () => {
    arena = await openArena(target);
  });

  afterAll(() => arena?.close());

  it.each(scenarios)("$name", (scenario) => arena.run(scenario));
});
