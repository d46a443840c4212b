/** Settles around a value that the database refuses, so that it fails no other task. */

import { isDatabaseRefusal } from "../../core/errors/database-refusals.ts";
import { describeError } from "../../core/errors/describe-error.ts";
import { envelope } from "../../core/errors/error-envelope.ts";
import type { DriverError } from "../../core/errors/errors.ts";
import type { Settlement, SettleResult } from "../../core/operations/settle.ts";
import type { ErrorEnvelope, Json } from "../../core/task.ts";
import type { Attempt } from "../handler/attempt.ts";

type Settle = (settlements: readonly Settlement[]) => Promise<readonly SettleResult[]>;

/**
 * Whether the database refused the content of a settlement: a value that it cannot store, or that a constraint
 * forbids.
 */
export function refusesContent(error: unknown): boolean {
  return isDatabaseRefusal(error) && ["invalid-value", "conflict"].includes((error as DriverError).kind);
}

/**
 * Settles attempts, at least one of which has a value that the database refuses, by halves, so that all others are
 * stored. The refused settlement is replaced by one that the database can store. Any other error is thrown, since it
 * says nothing about the tasks: the attempts that are not settled by then are to be sent again.
 */
export async function settleByHalves(attempts: readonly Attempt[], settle: Settle): Promise<SettleResult[]> {
  if (attempts.length === 1) return [await settleAlone(attempts[0]!, settle)];
  const middle = attempts.length >> 1;
  const settled: SettleResult[] = [];
  for (const half of [attempts.slice(0, middle), attempts.slice(middle)]) {
    try {
      settled.push(...(await settle(half.map(({ settlement }) => settlement!))));
    } catch (error) {
      if (!refusesContent(error)) throw error;
      settled.push(...(await settleByHalves(half, settle)));
    }
  }
  return settled;
}

async function settleAlone(attempt: Attempt, settle: Settle): Promise<SettleResult> {
  const settlement = attempt.settlement!;
  try {
    return (await settle([settlement]))[0]!;
  } catch (error) {
    if (!refusesContent(error) || settlement.outcome === "release") throw error;
    attempt.replaceSettlement(replaced(settlement, error));
  }
  try {
    return (await settle([attempt.settlement!]))[0]!;
  } catch (error) {
    if (refusesContent(error)) attempt.replaceSettlement(settlement); // the value was not the reason
    throw error;
  }
}

/** A result that cannot be stored fails its task; an error keeps its outcome, with a text that can be stored. */
function replaced(settlement: Settlement, refusal: unknown): Settlement {
  const { id, workerId, attempt } = settlement;
  if ("error" in settlement) return { ...settlement, error: plainText(settlement.error) };
  const { name, message, code: _, stack: __, ...details } = describeError(refusal as Error);
  const error = envelope(name, "unserializable_result", message, false, details as Json);
  return { id, workerId, attempt, outcome: "fail", error: plainText(error) };
}

/** The same in printable ASCII, which every encoding of a database has. */
function plainText(error: ErrorEnvelope): ErrorEnvelope {
  return JSON.parse(JSON.stringify(error).replace(/[^ -~]/gu, "?"));
}
