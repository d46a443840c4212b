// The most that each operation may cost on each target, kept in test/cost/ceilings.json.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Meter } from "../../testing/target.ts";
import { writeChanged } from "../write-changed.ts";
import type { Cost } from "./measure.ts";

const FILE = join(import.meta.dirname, "../../test/cost/ceilings.json");
const NUMBERS = ["roundTrips", "statements", "rowsRead", "rowsWritten"] as const;

/** The most each operation may cost, by target and operation. */
export type Ceilings = Record<string, Record<string, Meter>>;

export function readCeilings(): Ceilings {
  return JSON.parse(readFileSync(FILE, "utf8")) as Ceilings;
}

/** Makes the measured costs the new ceilings. Other targets keep their ceilings. */
export function writeCeilings(costs: readonly Cost[]): Ceilings {
  const ceilings = readCeilings();
  for (const target of new Set(costs.map((cost) => cost.target))) {
    ceilings[target] = Object.fromEntries(
      costs
        .filter((cost) => cost.target === target)
        .map(({ target: _, operation, ...numbers }) => [operation, numbers]),
    );
  }
  writeChanged(FILE, `${JSON.stringify(ceilings, null, 2)}\n`);
  return ceilings;
}

/** One sentence for each number that is above its ceiling, or has none. */
export function dearer(costs: readonly Cost[], ceilings: Ceilings): string[] {
  return costs.flatMap((cost) => {
    const where = `${cost.operation} on ${cost.target}`;
    const ceiling = ceilings[cost.target]?.[cost.operation];
    if (ceiling === undefined) return [`${where} has no ceiling`];
    return NUMBERS.filter((number) => (cost[number] ?? 0) > (ceiling[number] ?? 0)).map(
      (number) => `${where}: ${number} is ${cost[number]}, the ceiling is ${ceiling[number]}`,
    );
  });
}
