// Simulates what takes a month or a fleet in reality, with faults drawn from a seed, and counts what went wrong.

import { readOptions } from "./options.ts";
import { SIMULATIONS, type SimulationName } from "./simulate/simulations.ts";

const NAMES = Object.keys(SIMULATIONS) as SimulationName[];

const { name, plan, json } = readOptions(
  "simulate",
  {
    seed: { value: "N", about: "draws other faults, 1 if not given; the same seed draws the same ones" },
    size: { value: "N", about: "how many tasks, days or ticks instead of all" },
    json: { about: "print the figures as one line of JSON, last" },
  },
  ({ seed = "1", size, json }, [name]) => ({
    name: name as SimulationName,
    plan: { seed: count("seed", seed), size: size === undefined ? null : count("size", size) },
    json,
  }),
  NAMES,
);

function count(option: string, value: string): number {
  if (Number.isSafeInteger(Number(value)) && Number(value) > 0) return Number(value);
  throw new Error(`--${option} takes a whole number above 0, got "${value}"`);
}

const simulate = await SIMULATIONS[name]();
const { figures, violations } = await simulate(plan, json ? console.error : console.log);
if (!json)
  for (const [figure, value] of Object.entries(figures)) console.log(`  ${figure.padEnd(20)} ${value}`);
for (const violation of violations) console.error(`VIOLATION: ${violation}`);
if (json) console.log(JSON.stringify(figures));
process.exitCode = violations.length === 0 ? 0 : 1;
