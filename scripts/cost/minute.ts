import { Wadi, Worker } from "../../src/index.ts";
import type { Target } from "../../testing/target.ts";

/** The cost of a drain while one handler runs for a minute and nine slots are free. */
export interface MinuteCost {
  readonly target: string;
  readonly maxQueries: number | "default";
  readonly roundTrips: number;
  readonly queries: number;
  /** Null where the engine does not count. */
  readonly rowsRead: number | null;
  readonly rowsWritten: number | null;
}

const MINUTE_MS = 60_000;

export async function measureMinute(target: Target, maxQueries?: number): Promise<MinuteCost> {
  const open = await target.open();
  try {
    const wadi = new Wadi(open.executor);
    await wadi.submit("minute", null);
    const before = open.meter();
    const worker = new Worker(wadi, { leaseMs: 120_000 }).task(
      "minute",
      () => new Promise<void>((resolve) => setTimeout(resolve, MINUTE_MS)),
    );
    const { roundTrips, queries } = await worker.drain({ budgetMs: MINUTE_MS + 20_000, maxQueries });
    const after = open.meter();
    const spent = (kind: "rowsRead" | "rowsWritten") =>
      after[kind] === null || before[kind] === null ? null : after[kind] - before[kind];
    const rows = { rowsRead: spent("rowsRead"), rowsWritten: spent("rowsWritten") };
    return { target: target.name, maxQueries: maxQueries ?? "default", roundTrips, queries, ...rows };
  } finally {
    await open.close();
  }
}
