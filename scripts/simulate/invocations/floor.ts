/** Computes what kills cost at least, from the seed alone. */

import { randomOf } from "../random.ts";
import { type FaultRates, fateOf, workMsOf } from "./fates.ts";

/** How often the ideal worker repeats each killed invocation with other tasks. */
const REPEATS = 200;

export interface FloorPlan {
  readonly seed: number;
  readonly invocations: number;
  readonly invocationMs: number;
  readonly concurrency: number;
  readonly rates: FaultRates;
}

/**
 * What the same kills cost an ideal worker on average, in milliseconds: it is busy in all slots until it is killed,
 * claims and settles in no time, and loses only the calls that run at that moment.
 */
export function idealKilledMs({ seed, invocations, invocationMs, concurrency, rates }: FloorPlan): number {
  const random = randomOf(seed);
  let lostMs = 0;
  for (let n = 0; n < invocations; n++) {
    const { killAfterMs } = fateOf(seed, n, invocationMs, rates);
    if (killAfterMs === null) continue;
    for (let slot = 0; slot < concurrency * REPEATS; slot++) {
      let startedAtMs = 0;
      for (;;) {
        const endsAtMs = startedAtMs + workMsOf(seed, Math.floor(random() * 1e6));
        if (endsAtMs > killAfterMs) break;
        startedAtMs = endsAtMs;
      }
      lostMs += killAfterMs - startedAtMs;
    }
  }
  return Math.round(lostMs / REPEATS);
}
