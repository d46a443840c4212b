import { envelope } from "../core/envelope.ts";
import { refusesValue } from "../core/errors.ts";
import type { Settled, Settlement } from "../core/operations/settle.ts";
import type { ErrorEnvelope } from "../core/task.ts";
import type { Attempt } from "./attempt.ts";

type Settle = (settlements: readonly Settlement[]) => Promise<readonly Settled[]>;

/**
 * Settles attempts of which at least one has a value that the database refuses, by halves, so that all others go through.
 * Only the settlement of such a value is replaced. Any other error says nothing of the task and is thrown: what was not
 * settled by then is to be sent again.
 */
export async function settleApart(attempts: readonly Attempt[], settle: Settle): Promise<Settled[]> {
  if (attempts.length === 1) return [await settleAlone(attempts[0]!, settle)];
  const middle = attempts.length >> 1;
  const settled: Settled[] = [];
  for (const half of [attempts.slice(0, middle), attempts.slice(middle)]) {
    try {
      settled.push(...(await settle(half.map(({ settlement }) => settlement!))));
    } catch (error) {
      if (!refusesValue(error)) throw error;
      settled.push(...(await settleApart(half, settle)));
    }
  }
  return settled;
}

async function settleAlone(attempt: Attempt, settle: Settle): Promise<Settled> {
  const settlement = attempt.settlement!;
  try {
    return (await settle([settlement]))[0]!;
  } catch (error) {
    if (!refusesValue(error) || settlement.outcome === "release") throw error;
    attempt.settlement = replaced(settlement, error);
  }
  return (await settle([attempt.settlement]))[0]!;
}

/** A result that the database cannot hold fails its task; an error keeps its outcome, with a text that it can hold. */
function replaced(settlement: Settlement, refusal: unknown): Settlement {
  const { id, workerId, attempt } = settlement;
  if ("error" in settlement) return { ...settlement, error: plainText(settlement.error) };
  const { cause, message } = refusal as Error;
  const reason = cause instanceof Error ? { cause: `${cause.name}: ${cause.message}` } : null;
  const error = envelope("DriverError", "unserializable_result", message, false, reason);
  return { id, workerId, attempt, outcome: "fail", error: plainText(error) };
}

/** Printable ASCII, which every encoding of a database has. */
function plainText({ type, code, message, retryable, details }: ErrorEnvelope): ErrorEnvelope {
  const plain = (text: string) => text.replace(/[^\n -~]/gu, "?");
  const cause = (details as { cause?: unknown } | null)?.cause;
  const kept = typeof cause === "string" ? { cause: plain(cause) } : null;
  return envelope(plain(type), plain(code), plain(message), retryable, kept);
}
