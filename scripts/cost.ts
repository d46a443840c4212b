// Measures what each operation costs on each target, and compares it with the ceilings. Exits with 1 if one is broken.
import { startPostgres } from "../testing/postgres.ts";
import type { Target } from "../testing/target.ts";
import { pickTargets, targets } from "../testing/targets.ts";
import { dearer, readCeilings, writeCeilings } from "./cost/ceilings.ts";
import { writeDocument } from "./cost/document.ts";
import { type Cost, measureTarget } from "./cost/measure.ts";
import { measureMinute } from "./cost/minute.ts";
import { readOptions } from "./options.ts";
import { textTable } from "./text-table.ts";

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

/** Of the platform that bills queries and rows, on both of its plans, and of Postgres. */
async function measureMinutes(): Promise<void> {
  const server = process.env.WADI_TEST_POSTGRES_URL === undefined ? await startPostgres() : undefined;
  if (server !== undefined) process.env.WADI_TEST_POSTGRES_URL = server.url;
  try {
    const [d1, pg] = pickTargets(["d1", "pg"]);
    const costs = await Promise.all([measureMinute(d1!), measureMinute(d1!, 1000), measureMinute(pg!)]);
    console.log(JSON.stringify(costs, null, 2));
  } finally {
    await server?.stop();
  }
}

const targetNames = targets.map(({ name }) => name).join(", ");
const options = readOptions(
  "cost",
  {
    target: { value: "NAME", list: true, about: `measure on these databases only: ${targetNames}` },
    json: { about: "print the costs as one line of JSON instead of a table" },
    minute: {
      about:
        "measure instead what a handler that runs for a minute costs with nine free slots; takes a minute",
    },
    write: { about: "make what is measured the new ceilings, and write them into docs/cost.md" },
  },
  (values) => ({ ...values, targets: pickTargets(values.target) }),
);
if (options.minute) {
  await measureMinutes();
  process.exit();
}
const costs = await measureAll(options.targets);
if (options.write) writeDocument(writeCeilings(costs));
if (!options.json) console.log(report(costs));
const above = dearer(costs, readCeilings());
for (const sentence of above) console.error(`dearer: ${sentence}`);
if (options.json) console.log(JSON.stringify(costs));
process.exitCode = above.length > 0 ? 1 : 0;
