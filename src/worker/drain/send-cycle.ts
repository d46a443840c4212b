import { claim } from "../../core/operations/claim.ts";
import { asResend, combineTwo, type Operation, type SqlTarget } from "../../core/operations/operation.ts";
import { fireSchedules, syncSchedules } from "../../core/operations/schedules.ts";
import { settle } from "../../core/operations/settle.ts";
import { claimWithMark } from "../../core/operations/wake.ts";
import type { OperationOptions } from "../../core/session/operation-options.ts";
import type { WadiInternals } from "../../producer/internals.ts";
import type { Cycle, CycleAnswer } from "./cycle-composer.ts";
import type { DrainReporter } from "./drain-reporter.ts";
import type { ScheduleWork } from "./schedule-firing.ts";
import { refusesContent, settleByHalves } from "./settle-by-halves.ts";
import { startOf } from "./start-gate.ts";

/**
 * Sends a cycle in one round trip. If the database refuses the content of a settlement, it settles the attempts by
 * halves, announces no starts, and claims last.
 */
export async function sendCycle(
  { attempts, starts, request, mark, work, resent }: Cycle,
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
    if (request === null) return [await send(settling, resent), null, null, null];
    const claiming = claimWithMark(target, claim(target, request), mark);
    const cycle = combineTwo("settleAndClaim", settling, claiming);
    if (work === null) {
      const [settled, answer] = await send(cycle, resent);
      return [settled, ...answer, null];
    }
    // Before the settlement, so that no two drains wait for each other: each locks schedules first, then tasks.
    const firing = combineTwo("settleAndClaim", scheduleWork(target, work), cycle);
    const [fired, [settled, answer]] = await send(firing, resent);
    return [settled, ...answer, fired];
  } catch (error) {
    if (!refusesContent(error) || attempts.length === 0) throw error;
  }
  const settled = await settleByHalves(attempts, (some) => send(settle(session.target, some), resent));
  if (request === null) return [settled, null, null, null];
  const { target } = session;
  return [settled, ...(await send(claimWithMark(target, claim(target, request), mark), false)), null];
}

function scheduleWork(
  target: SqlTarget,
  { definitions, firing }: ScheduleWork,
): Operation<readonly string[]> {
  return firing === null ? syncSchedules(target, definitions!) : fireSchedules(target, firing);
}
