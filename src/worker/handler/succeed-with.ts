import { type Backoff, backoffDelay } from "../../core/backoff.ts";
import { LostLease, TaskCanceled, WadiError } from "../../core/errors/errors.ts";
import { failedFence, fenceLease } from "../../core/operations/fence.ts";
import type { Operation } from "../../core/operations/operation.ts";
import { getTask } from "../../core/operations/read.ts";
import { bind } from "../../core/operations/statement.ts";
import type { OperationOptions } from "../../core/session/operation-options.ts";
import type { Session } from "../../core/session/session.ts";
import type { Task } from "../../core/task.ts";
import { sleep } from "../../core/timers.ts";
import type { UserStatement } from "../task-context.ts";
import { userStatements } from "./user-statements.ts";

/** Pauses between two tries while the database is unavailable. */
const PAUSES: Backoff = { baseMs: 200, capMs: 5000 };

/**
 * Commits the application's statements and the success of a claimed task in one transaction and one round trip.
 *
 * The batch begins with a fence: a statement that fails unless the lease is held, and locks the task's row. So the
 * batch can be sent again after a lost answer: if the first try was committed, the fence refuses the second. While
 * the database is unavailable it is sent again until the deadline or the signal of `call`.
 *
 * @throws {LostLease} if the lease has expired or another worker holds it. @throws {TaskCanceled} if a cancel was
 * requested.
 * @throws {DriverError} if the database refuses one of the statements. Nothing was written in any of these cases.
 */
export async function commitSuccess(
  session: Session,
  task: Task,
  statements: readonly UserStatement[],
  resultJson: string,
  call: OperationOptions = {},
): Promise<void> {
  const { target, executor } = session;
  const sendAround = userStatements(executor, statements);
  const held = { id: task.id, workerId: task.workerId! };
  let mayBeCommitted = false;
  const operation: Operation<void> = {
    name: "succeedWith",
    statements: [
      fenceLease(target, held, true),
      bind(target, "succeed_task", { id: held.id, worker_id: held.workerId, result: resultJson }),
    ],
    sendsMore: statements.length,
    send: (_, around, options) => sendAround(around, options),
    decode: () => {},
    resend: () => {
      mayBeCommitted = true;
      return operation;
    },
    explain: (error) => {
      const fence = failedFence(error);
      if (fence === "lost_lease") return new LostLease(task.id);
      if (fence === "canceled") return new TaskCanceled(task);
      const kind = executor.classify(error);
      const isRefused = ["conflict", "rejected", "invalid-value", "missing-schema"].includes(kind);
      // Wadi's tables exist, for the task was claimed from them: a missing table is one of the application's.
      return isRefused
        ? session.driverError("succeedWith", kind === "missing-schema" ? "rejected" : kind, error)
        : undefined;
    },
  };
  const send = async () => {
    try {
      await session.execute(operation, call);
    } catch (error) {
      if (!(mayBeCommitted && error instanceof LostLease)) throw error;
      // The token belongs to this claim alone: a success under it is that of an earlier try, whose answer was lost.
      const now = await session.execute(getTask(target, { id: task.id }), call);
      if (now?.status !== "succeeded" || now.workerId !== held.workerId) throw error;
    }
  };
  for (let tries = 1; ; tries++) {
    try {
      return await send();
    } catch (error) {
      const delayMs = backoffDelay(PAUSES, tries);
      const isLate = call.deadlineMs !== undefined && Date.now() + delayMs >= call.deadlineMs;
      if (!isUnavailable(error) || isLate) throw error;
      mayBeCommitted = true;
      await sleep(delayMs, call.signal);
    }
  }
}

/** Whether the database did not answer or refused everything, so that the same batch may be committed later. */
function isUnavailable(error: unknown): boolean {
  return WadiError.is(error) && error.code === "DRIVER_ERROR" && error.retryable;
}
