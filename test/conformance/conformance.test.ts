import { afterAll, beforeAll, describe, it } from "vitest";
import { targets } from "../support/targets.ts";
import { type Arena, openArena } from "./arena.ts";
import { loadScenarios, OWN_SCENARIOS } from "./scenario.ts";

const scenarios = loadScenarios(OWN_SCENARIOS);

describe.each(targets)("$name", (target) => {
  let arena: Arena;

  beforeAll(async () => {
    arena = await openArena(target);
  });

  afterAll(() => arena?.close());

  it.each(scenarios)("$name", (scenario) => arena.run(scenario));
});
