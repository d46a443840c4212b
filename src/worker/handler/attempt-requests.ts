/**
 * The requests that a handler can send for its attempt. Each is one round trip, and its answer says whether the lease
 * is still held.
 */

import { InvalidArgument, LostLease, TaskCanceled } from "../../core/errors/errors.ts";
import { encodeJson } from "../../core/json/json.ts";
import { toEpochMs } from "../../core/monotonic-clock.ts";
import { renewLeases, updateProgress } from "../../core/operations/lease.ts";
import { getTask } from "../../core/operations/read.ts";
import type { SubmittedTask } from "../../core/operations/submit.ts";
import { fraction } from "../../core/validate.ts";
import type { AnyTaskDefinition } from "../../producer/define-task.ts";
import type { SubmitOptions } from "../../producer/submit/submit-options.ts";
import type { UserStatement } from "../task-context.ts";
import type { Attempt } from "./attempt.ts";
import type { SettledTask } from "./settled-task.ts";
import { commitSuccess } from "./succeed-with.ts";
import { validate } from "./validate.ts";

export async function reportProgress(
  attempt: Attempt,
  value: number | null,
  message?: string,
): Promise<void> {
  const progress = fraction("progress", value);
  if (message !== undefined && typeof message !== "string") {
    throw new InvalidArgument(`the message of progress must be a string, got ${typeof message}`);
  }
  attempt.requireLease();
  // Some clients drop a byte order mark; Postgres refuses NUL and lone surrogates.
  const text =
    message
      ?.replaceAll("\0", "")
      .replace(/^\ufeff+/, "")
      .toWellFormed() ?? null;
  const { meter, owner } = attempt;
  const { session } = owner.wadi;
  const operation = updateProgress(session.target, attempt, { progress, message: text });
  attempt.applyRenewal(await session.execute(operation, { meter }));
  attempt.requireLease();
}

export async function renewLease(attempt: Attempt): Promise<{ readonly canceled: boolean }> {
  attempt.requireLease();
  const { meter, owner } = attempt;
  const { session } = owner.wadi;
  const operation = renewLeases(session.target, [attempt], owner.leaseMs);
  attempt.applyRenewal((await session.execute(operation, { meter }))[0]);
  attempt.requireLease();
  return { canceled: attempt.canceled };
}

export async function submitChild(
  attempt: Attempt,
  child: string | AnyTaskDefinition,
  payload: unknown,
  options?: SubmitOptions,
): Promise<SubmittedTask> {
  attempt.requireLease();
  const { id, rootId, correlationId } = attempt.task;
  // The attempt itself, not a copy: children that one tick submits for the same parent share a round trip.
  const lineage = { parentId: id, rootId: rootId ?? id, correlationId, held: attempt };
  try {
    return await attempt.owner.wadi.submitter.submit({ task: child, payload, options, lineage });
  } catch (error) {
    if (error instanceof LostLease) attempt.lose();
    throw error;
  }
}

export async function succeedWith(
  attempt: Attempt,
  statements: readonly UserStatement[],
  result: unknown,
): Promise<unknown> {
  const { meter, owner, task } = attempt;
  const { wadi } = owner;
  const schema = attempt.handler.registration.result;
  const given = result === undefined ? null : result;
  const value = schema === null ? given : await validate(schema, "result", task, given);
  const resultJson = encodeJson(value, `the result of ${task.name}`, wadi.executor);
  attempt.requireLease();
  const signal = attempt.beginExternalSettlement();
  try {
    const deadlineMs = Number.isFinite(attempt.deadlineMs) ? toEpochMs(attempt.deadlineMs) : undefined;
    await commitSuccess(wadi.session, task, statements, resultJson, { meter, deadlineMs, signal });
  } catch (error) {
    if (error instanceof LostLease) attempt.lose();
    if (error instanceof TaskCanceled) attempt.applyRenewal({ id: task.id, cancelRequested: true });
    attempt.abandonExternalSettlement();
    throw error;
  }
  attempt.commitExternalSettlement();
  return result;
}

/** The task as the database has it after the settlement. Never rejects. */
export function settledTask({ meter, owner, settlementResult, task }: Attempt): Promise<SettledTask> {
  const { session } = owner.wadi;
  return settlementResult.settled(task, () =>
    session.execute(getTask(session.target, { id: task.id }), { meter }),
  );
}
