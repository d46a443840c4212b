// Runs conformance scenarios on the databases Wadi supports.
// Exits with 1 if a scenario failed, with 2 if the arguments or the scenarios are not usable.
import { openArena } from "../testing/conformance/arena.ts";
import { loadScenarios, OWN_SCENARIOS, type Scenario } from "../testing/conformance/scenario.ts";
import { startPostgres } from "../testing/postgres.ts";
import type { Target } from "../testing/target.ts";
import { pickTargets, targets } from "../testing/targets.ts";
import { readOptions } from "./options.ts";

interface Result {
  readonly target: string;
  readonly scenario: string;
  readonly ok: boolean;
  readonly error?: string;
}

interface Job {
  readonly scenarios: readonly Scenario[];
  readonly targets: readonly Target[];
  readonly json: boolean;
}

async function runAll({ targets, scenarios }: Job): Promise<Result[]> {
  const ownPostgres =
    process.env.WADI_TEST_POSTGRES_URL === undefined && targets.some(({ dialect }) => dialect === "postgres");
  const postgres = ownPostgres ? await startPostgres() : null;
  if (postgres !== null) process.env.WADI_TEST_POSTGRES_URL = postgres.url;
  try {
    const results: Result[] = [];
    for (const target of targets) results.push(...(await runTarget(target, scenarios)));
    return results;
  } finally {
    await postgres?.stop();
  }
}

async function runTarget(target: Target, scenarios: readonly Scenario[]): Promise<Result[]> {
  const startedAt = performance.now();
  const results: Result[] = [];
  const record = (scenario: Scenario, error?: string) => {
    const result = { target: target.name, scenario: scenario.name, ok: error === undefined };
    results.push(error === undefined ? result : { ...result, error });
    if (error !== undefined) console.log(`  FAIL ${target.name} ${scenario.name}: ${error}`);
  };
  console.log(`${target.name}: ${scenarios.length} scenarios`);
  try {
    const arena = await openArena(target);
    try {
      for (const scenario of scenarios) record(scenario, await errorOf(arena.run(scenario)));
    } finally {
      await arena.close();
    }
  } catch (error) {
    for (const scenario of scenarios.slice(results.length)) record(scenario, `${target.name}: ${error}`);
  }
  const passed = results.filter(({ ok }) => ok).length;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${target.name}: ${passed} passed, ${results.length - passed} failed, ${seconds} s`);
  return results;
}

async function errorOf(run: Promise<void>): Promise<string | undefined> {
  try {
    await run;
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

const targetNames = targets.map(({ name }) => name).join(", ");
const job = readOptions(
  "conformance",
  {
    scenarios: { value: "DIR", about: "run the scenarios of this folder instead of Wadi's own" },
    target: { value: "NAME", list: true, about: `run on these databases only: ${targetNames}` },
    json: { about: "print the results as one line of JSON, last" },
  },
  ({ scenarios, target, json }): Job => ({
    targets: pickTargets(target),
    scenarios: loadScenarios(scenarios ?? OWN_SCENARIOS),
    json,
  }),
);
const results = await runAll(job);
const passed = results.filter(({ ok }) => ok).length;
const failed = results.length - passed;
console.log(`${passed} passed, ${failed} failed`);
if (job.json) console.log(JSON.stringify({ passed, failed, results }));
process.exitCode = failed === 0 ? 0 : 1;
