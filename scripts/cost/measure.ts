// Measures what each operation costs on a target: round trips, statements, rows read and written.

import type { Meter, Target } from "../../testing/target.ts";
import { Bench, type Operation } from "./bench.ts";
import { operations } from "./operations.ts";

export interface Cost extends Meter {
  readonly target: string;
  readonly operation: string;
}

/** The cost of one call of each operation on one target, each on a fresh database with a warm session. */
export async function measureTarget(target: Target): Promise<Cost[]> {
  const costs: Cost[] = [];
  for (const [name, operation] of Object.entries(operations)) {
    costs.push({ target: target.name, operation: name, ...(await measure(target, operation)) });
  }
  return costs;
}

/** The cost of the call that `operation` prepares. */
export async function measure(target: Target, operation: Operation): Promise<Meter> {
  const opened = await target.open();
  try {
    const call = await operation(await Bench.open(opened));
    const before = opened.meter();
    await call();
    return difference(opened.meter(), before);
  } finally {
    await opened.close();
  }
}

function difference(after: Meter, before: Meter): Meter {
  const rows = (a: number | null, b: number | null) => (a === null || b === null ? null : a - b);
  return {
    roundTrips: after.roundTrips - before.roundTrips,
    statements: after.statements - before.statements,
    rowsRead: rows(after.rowsRead, before.rowsRead),
    rowsWritten: rows(after.rowsWritten, before.rowsWritten),
  };
}
