import { claim } from "../../core/operations/claim.ts";
import { asResend, combineTwo, type Operation } from "../../core/operations/operation.ts";
import { settle } from "../../core/operations/settle.ts";
import { claimWithMark } from "../../core/operations/wake.ts";
import type { OperationOptions } from "../../core/session/operation-options.ts";
import type { WadiInternals } from "../../producer/internals.ts";
import type { Cycle, CycleAnswer } from "./cycle-composer.ts";
import type { DrainReporter } from "./drain-reporter.ts";
import { refusesContent, settleByHalves } from "./settle-by-halves.ts";
import { startOf } from "./start-gate.ts";

/**
 * Sends a cycle in one round trip. If the database refuses the content of a settlement, it settles the attempts by
 * halves, announces no starts, and claims last.
 */
export async function sendCycle(
  { attempts, starts, request, mark, resent }: Cycle,
  { session }: WadiInternals,
  totals: DrainReporter,
  call: OperationOptions,
): Promise<CycleAnswer> {
  const settlements = [...attempts.map(({ settlement }) => settlement!), ...starts.map(startOf)];
  const send = <T>(operation: Operation<T>, isResend: boolean) => {
    totals.roundTrip();
    return session.execute(isResend ? asResend(operation) : operation, call);
  };
  try {
    const { target } = session;
    const settling = settle(target, settlements);
    if (request === null) return [await send(settling, resent), null, null];
    const claiming = claimWithMark(target, claim(target, request), mark);
    const [settled, answer] = await send(combineTwo("settleAndClaim", settling, claiming), resent);
    return [settled, ...answer];
  } catch (error) {
    if (!refusesContent(error) || attempts.length === 0) throw error;
  }
  const settled = await settleByHalves(attempts, (some) => send(settle(session.target, some), resent));
  if (request === null) return [settled, null, null];
  const { target } = session;
  return [settled, ...(await send(claimWithMark(target, claim(target, request), mark), false))];
}
