import type { Executor } from "../../src/core/executor.ts";
import { Wadi } from "../../src/producer/wadi.ts";
import { movableClock } from "./clock.ts";
import { assertionsOf, mismatches } from "./expectations.ts";
import type { World } from "./operation.ts";
import { perform } from "./operations.ts";
import { find, resolve } from "./references.ts";
import { isObject, type Scenario, type Step } from "./scenario.ts";

/** A step that did not end as its scenario says; the message names the step and the difference. */
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
  const world: World = {
    wadi: new Wadi(executor, { clock: clock.now, keysAcrossNames: true }),
    clock,
    attempts: new Map(),
  };
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
    const resolved = resolve(step.args ?? {}, saved);
    const args = isObject(resolved) ? resolved : {};
    result = await perform(
      world,
      step.op,
      "target" in step ? { ...args, target: find(step.target, saved) } : args,
    );
  } catch (error) {
    const { name, message, taskId = null } = error as Error & { taskId?: string };
    if (step.expectError === undefined) return [`${name}: ${message}`];
    if (step.expectError !== name) return [`expected ${step.expectError}, got ${name}: ${message}`];
    if (step.save !== undefined) saved.set(step.save, { type: name, task_id: taskId });
    return [];
  }
  if (step.expectError !== undefined) return [`expected ${step.expectError}, but it succeeded`];
  if (step.save !== undefined) saved.set(step.save, result);
  try {
    return assertionsOf(step).flatMap((assertions) => mismatches(assertions, result, saved));
  } catch (error) {
    return [(error as Error).message];
  }
}
