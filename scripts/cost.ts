// Measures what each operation costs on each target.
//   npm run cost -- [--target NAME,...] [--json] [--write]
import { parseArgs } from "node:util";
import { startPostgres } from "../test/support/postgres.ts";
import type { Target } from "../test/support/target.ts";
import { pickTargets } from "../test/support/targets.ts";
import { dearer, readCeilings, writeCeilings } from "./cost/ceilings.ts";
import { writeDocument } from "./cost/document.ts";
import { type Cost, measureTarget } from "./cost/measure.ts";
import { textTable } from "./text-table.ts";

interface Options {
  readonly targets: readonly Target[];
  readonly json: boolean;
  readonly write: boolean;
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: { target: { type: "string" }, json: { type: "boolean" }, write: { type: "boolean" } },
  });
  return {
    targets: pickTargets(values.target?.split(",")),
    json: values.json ?? false,
    write: values.write ?? false,
  };
}

async function measureAll(targets: readonly Target[]): Promise<Cost[]> {
  const needed = targets.some(({ dialect }) => dialect === "postgres");
  const server =
    needed && process.env.WADI_TEST_POSTGRES_URL === undefined ? await startPostgres() : undefined;
  if (server !== undefined) process.env.WADI_TEST_POSTGRES_URL = server.url;
  try {
    const costs: Cost[] = [];
    for (const target of targets) {
      console.error(`measuring ${target.name} ...`);
      costs.push(...(await measureTarget(target)));
    }
    return costs;
  } finally {
    await server?.stop();
  }
}

function report(costs: readonly Cost[]): string {
  const heading = ["target", "operation", "round trips", "statements", "rows read", "rows written"];
  const rows = costs.map((cost) => [
    ...[cost.target, cost.operation, cost.roundTrips, cost.statements],
    ...[cost.rowsRead, cost.rowsWritten],
  ]);
  return textTable([heading, ...rows]);
}

let options: Options;
try {
  options = readOptions();
} catch (error) {
  console.error(`cost: ${(error as Error).message}`);
  process.exit(2);
}
const costs = await measureAll(options.targets);
if (options.write) writeDocument(writeCeilings(costs));
if (!options.json) console.log(report(costs));
const above = dearer(costs, readCeilings());
for (const sentence of above) console.error(`dearer: ${sentence}`);
if (options.json) console.log(JSON.stringify(costs));
process.exitCode = above.length > 0 ? 1 : 0;
