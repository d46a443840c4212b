import type { Executor } from "../../src/core/executor.ts";
import { Wadi } from "../../src/producer/wadi.ts";
import { movableClock } from "./clock.ts";
import { mismatches } from "./expectations.ts";
import type { World } from "./operation.ts";
import { perform } from "./operations.ts";
import { resolve } from "./references.ts";
import { isObject, type Scenario, type Step } from "./scenario.ts";

/** A step that did not go as its scenario says; the message tells which one and what differed. */
export class ScenarioFailure extends Error {
  override readonly name = "ScenarioFailure";
}

/**
 * Runs one scenario against one database, whose tables are empty or missing.
 *
 * Time is a clock that `sleep` moves. Each step moves it by one millisecond too, so that what comes later
 * is later on every engine.
 *
 * @throws {ScenarioFailure} at the first step that differs.
 */
export async function runScenario(scenario: Scenario, executor: Executor): Promise<void> {
  const clock = movableClock();
  const world: World = { wadi: new Wadi(executor, { clock: clock.now }), clock, attempts: new Map() };
  const saved = new Map<string, unknown>();
  for (const [i, step] of scenario.steps.entries()) {
    clock.advance(1);
    const problems = await runStep(world, step, saved);
    if (problems.length > 0) throw new ScenarioFailure(`step ${i + 1} (${step.op}): ${problems.join("; ")}`);
  }
}

async function runStep(world: World, step: Step, saved: Map<string, unknown>): Promise<string[]> {
  let result: unknown;
  try {
    const args = step.target === undefined ? step.args : { ...step.args, target: step.target };
    const resolved = resolve(args ?? {}, saved);
    result = await perform(world, step.op, isObject(resolved) ? resolved : {});
    if (step.save !== undefined) saved.set(step.save, result);
    if (step.expectError === undefined) return mismatches(step.expect ?? {}, result, saved);
    return [`expected ${step.expectError}, but it succeeded`];
  } catch (error) {
    const { name, message } = error as Error;
    if (step.expectError === name) return [];
    return step.expectError === undefined
      ? [`${name}: ${message}`]
      : [`expected ${step.expectError}, got ${name}: ${message}`];
  }
}
