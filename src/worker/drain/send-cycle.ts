import type { OperationOptions } from "../../core/session/operation-options.ts";
import type { WadiInternals } from "../../producer/internals.ts";
import type { Cycle, CycleAnswer } from "./cycles.ts";
import type { DrainTotals } from "./drain-totals.ts";
import { refusesContent, settleByHalves } from "./settle-by-halves.ts";
import { startOf } from "./start-gate.ts";

/**
 * Sends a cycle in one round trip. If the database refuses the content of a settlement, it settles the attempts by
 * halves, announces no starts, and claims last.
 */
export async function sendCycle(
  { attempts, starts, request, resent }: Cycle,
  { store }: WadiInternals,
  totals: DrainTotals,
  call: OperationOptions,
): Promise<CycleAnswer> {
  const settlements = [...attempts.map(({ settlement }) => settlement!), ...starts.map(startOf)];
  totals.roundTrip();
  try {
    if (request !== null) return await store.settleAndClaim(settlements, request, call, resent);
    return [await store.settle(settlements, call, resent), null];
  } catch (error) {
    if (!refusesContent(error) || attempts.length === 0) throw error;
  }
  const settled = await settleByHalves(attempts, (some) => {
    totals.roundTrip();
    return store.settle(some, call, resent);
  });
  if (request === null) return [settled, null];
  totals.roundTrip();
  return [settled, await store.claim(request, call)];
}
