import { type Backoff, backoffDelay } from "../../core/backoff.ts";
import { LostLease, TaskCanceled, WadiError } from "../../core/errors/errors.ts";
import { failedFence, fenceLease } from "../../core/operations/fence.ts";
import type { Operation } from "../../core/operations/operation.ts";
import { bind } from "../../core/operations/statement.ts";
import type { CallOptions } from "../../core/session/call-options.ts";
import type { Store } from "../../core/session/store.ts";
import type { Task } from "../../core/task.ts";
import { sleep } from "../../core/timers.ts";
import type { UserStatement } from "../task-context.ts";
import { userStatements } from "./user-statements.ts";

/** Pauses while the database takes nothing. */
const PAUSES: Backoff = { baseMs: 200, capMs: 5000 };

/**
 * Commits statements of the application's own and the success of a claimed task together, in one round trip, or
 * nothing of it.
 *
 * The batch begins with a fence that fails unless the lease is held and keeps the row from everyone else. So it can be
 * sent again after a lost answer: if the first try was committed, the fence refuses the second. While the database takes nothing
 * it is sent again until the deadline of `call` or its signal.
 *
 * @throws {LostLease} if the lease ran out or is another's. @throws {TaskCanceled} if a cancel was requested.
 * @throws {DriverError} if the database refuses one of the statements. Nothing was written in any of these cases.
 */
export async function commitSuccess(
  store: Store,
  task: Task,
  statements: readonly UserStatement[],
  resultJson: string,
  call: CallOptions = {},
): Promise<void> {
  const { target, executor } = store.session;
  const around = userStatements(executor, statements);
  const held = { id: task.id, workerId: task.workerId! };
  let mayBeCommitted = false;
  const operation: Operation<void> = {
    name: "succeedWith",
    statements: [
      fenceLease(target, held, true),
      bind(target, "succeed_task", { id: held.id, worker_id: held.workerId, result: resultJson }),
    ],
    sendsMore: statements.length,
    send: (_, all, options) => around(all.slice(0, -1), all.at(-1)!, options),
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
      // Wadi's own tables are there: the task was claimed from them.
      return isRefused
        ? store.session.driverError("succeedWith", kind === "missing-schema" ? "rejected" : kind, error)
        : undefined;
    },
  };
  const send = async () => {
    try {
      await store.session.execute(operation, call);
    } catch (error) {
      if (!(mayBeCommitted && error instanceof LostLease)) throw error;
      // Nobody else has this token: a success under it is that of an earlier try, whose answer was lost.
      const now = await store.get({ id: task.id }, call);
      if (now?.status !== "succeeded" || now.workerId !== held.workerId) throw error;
    }
  };
  for (let tries = 1; ; tries++) {
    try {
      return await send();
    } catch (error) {
      const delayMs = backoffDelay(PAUSES, tries);
      const isLate = call.deadlineMs !== undefined && Date.now() + delayMs >= call.deadlineMs;
      if (!saysNothingOfTheTask(error) || isLate) throw error;
      mayBeCommitted = true;
      await sleep(delayMs, call.signal);
    }
  }
}

/** Whether the database was not able to answer, or to take anything at all: what was to be committed is as good as before. */
function saysNothingOfTheTask(error: unknown): boolean {
  return WadiError.is(error) && error.code === "DRIVER_ERROR" && error.retryable;
}
