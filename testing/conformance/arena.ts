import type { Executor } from "../../src/core/executor.ts";
import { migrate } from "../../src/core/migrations/migrate.ts";
import { inSchema } from "../in-schema.ts";
import type { OpenTarget, Target } from "../target.ts";
import { runScenario, ScenarioFailure } from "./interpreter.ts";
import { brokenRules } from "./row-rules.ts";
import type { Scenario } from "./scenario.ts";

/** One open database on which scenarios run one after the other, each on empty tables. */
export interface Arena {
  /** @throws {ScenarioFailure} */
  run(scenario: Scenario): Promise<void>;
  close(): Promise<void>;
}

/** @param wrap Wraps the executor that the scenarios use. */
export async function openArena(
  target: Pick<Target, "open"> | Pick<OpenTarget, "executor" | "close">,
  wrap: (executor: Executor) => Executor = (executor) => executor,
): Promise<Arena> {
  const { executor, close } = "open" in target ? await target.open() : target;
  await migrate(executor);
  return {
    async run(scenario) {
      const tables = ["cairnq_task_keys", "cairnq_tasks"];
      const { schema } = executor.protocol;
      const clear = tables.map((table) => ({ sql: inSchema(`delete from ${table}`, schema), params: [] }));
      await executor.batch(clear);
      await runScenario(scenario, wrap(executor));
      const broken = await brokenRules(executor);
      if (broken.length > 0) throw new ScenarioFailure(`at the end: ${broken.join("; ")}`);
    },
    close,
  };
}
