/** Waiting for the end of one task. */
import type { TaskRef } from "../../core/operations/read.ts";
import type { Task } from "../../core/task.ts";
import { byKey, ofDefinition, type RefArguments, splitRef } from "../tasks/task-ref.ts";
import { endOnAbort } from "./end-on-abort.ts";
import type { OpenWaits } from "./open-waits.ts";
import type { PendingWait } from "./pending-wait.ts";
import { timedOut } from "./timed-out.ts";
import { type CheckedWait, checkWait, type WaitOptions } from "./wait-options.ts";

/**
 * Waits until a task is terminal and returns it. Polls read its state only; its whole row is read once, at the end. A
 * key is resolved at each poll: if its task is replaced, the wait goes on with the new one.
 */
export function waitForTask(loop: OpenWaits, ref: TaskRef, wait: CheckedWait): Promise<Task> {
  return openWait(loop, ref, wait, false).done;
}

/** Waits for the task of a key, checked at its end to be one of the definition if there is one. */
export async function waitForKey(loop: OpenWaits, args: RefArguments<WaitOptions>): Promise<Task> {
  const { definition, ref, options } = splitRef(args);
  return ofDefinition(await waitForTask(loop, byKey(ref), checkWait(options, "waitByKey")), definition);
}

/** A wait for one task, and its end. A paused one does not poll until the loop resumes it. */
export function openWait(
  loop: OpenWaits,
  ref: TaskRef,
  wait: CheckedWait,
  isPaused: boolean,
): { readonly open: PendingWait; readonly done: Promise<Task> } {
  const { promise: done, resolve, reject } = Promise.withResolvers<Task>();
  const end = endOnAbort(wait.signal, (reason) => {
    loop.close(open);
    reject(reason);
  });
  const open = loop.open(
    "one",
    [ref],
    wait,
    {
      ended(_ref, task) {
        end();
        resolve(task);
      },
      timedOut(task, error) {
        end();
        reject(timedOut(ref, wait.timeoutMs, task, error, loop.nowMs));
      },
      failed(error) {
        end();
        reject(error);
      },
    },
    isPaused,
  );
  return { open, done };
}
