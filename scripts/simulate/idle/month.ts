/** A month of ticks on a moved clock, with nothing to do: what it asks the database. */

import { type Hint, Wadi, Worker } from "../../../src/index.ts";
import type { OpenTarget } from "../../../testing/target.ts";

export const MINUTE_MS = 60_000;
/** Each minute of thirty days. */
export const MONTH_TICKS = 30 * 24 * 60;

export interface IdleMonth {
  readonly ticks: number;
  readonly databaseRequests: number;
  /** Null where the engine does not count. */
  readonly rowsRead: number | null;
  readonly rowsWritten: number | null;
  /** The most requests of one tick. */
  readonly mostOfATick: number;
  /** The least ticks from one that asked to the next. */
  readonly leastGap: number;
}

/** Each tick is one invocation: its client and its worker are new, and keep nothing from the one before. */
export async function runIdleMonth(
  { executor, meter }: OpenTarget,
  hint: Hint | undefined,
  ticks: number,
): Promise<IdleMonth> {
  let nowMs = Date.now();
  const clock = () => nowMs;
  await new Wadi(executor).migrate();
  const before = meter();
  let [requests, mostOfATick, askedAt, leastGap] = [before.roundTrips, 0, Number.NEGATIVE_INFINITY, ticks];
  for (let tick = 0; tick < ticks; tick++) {
    nowMs += MINUTE_MS;
    const worker = new Worker(new Wadi(executor, { clock, hint }));
    for (const name of ["index", "mail", "resize"]) worker.task(name, () => null);
    const { roundTrips, claimed, more } = await worker.drain();
    const after = meter().roundTrips;
    const sent = after - requests;
    requests = after;
    if (claimed > 0 || more || roundTrips !== sent)
      throw new Error(`tick ${tick} reports ${roundTrips} round trips, and sent ${sent}`);
    mostOfATick = Math.max(mostOfATick, sent);
    if (sent > 0) {
      leastGap = Math.min(leastGap, tick - askedAt);
      askedAt = tick;
    }
  }
  const after = meter();
  const rows = (a: number | null, b: number | null) => (a === null || b === null ? null : a - b);
  return {
    ticks,
    databaseRequests: after.roundTrips - before.roundTrips,
    rowsRead: rows(after.rowsRead, before.rowsRead),
    rowsWritten: rows(after.rowsWritten, before.rowsWritten),
    mostOfATick,
    leastGap,
  };
}
