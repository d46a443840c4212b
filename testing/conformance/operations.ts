import { type Args, numberArg, type ScenarioOperation, type World } from "./operation.ts";
import { producerOperations } from "./producer-operations.ts";
import { workerOperations } from "./worker-operations.ts";

/** Every op of the scenario format. */
export const operations: Record<string, ScenarioOperation> = {
  ...producerOperations,
  ...workerOperations,
  sleep: {
    args: ["ms"],
    run: async ({ clock }, args) => clock.advance(numberArg(args, "ms")),
  },
  // Its target has been resolved by the time it runs.
  expect: { args: ["target"], run: async (_world, args) => args.target },
};

/** Runs one operation; unknown operations and arguments are refused. */
export async function perform(world: World, op: string, args: Args): Promise<unknown> {
  const operation = operations[op];
  if (operation === undefined)
    throw new Error(`there is no op "${op}"; there are ${Object.keys(operations).join(", ")}`);
  const unknown = Object.keys(args).find((name) => !operation.args.includes(name));
  if (unknown !== undefined) {
    const known = operation.args.join(", ");
    throw new Error(`the op ${op} has no argument "${unknown}"; it takes ${known}`);
  }
  return operation.run(world, args);
}
