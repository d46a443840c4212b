/** Turns the outcome `rejected` of a submit into the error its caller gets. */
import { AlreadyExists } from "../../core/errors/errors.ts";
import type { NewTask, SubmittedTask } from "../../core/operations/submit.ts";

/** @throws {AlreadyExists} if the task was rejected. */
export function refuseRejected({ key, columns }: NewTask, submitted: SubmittedTask): SubmittedTask {
  if (submitted.outcome !== "rejected") return submitted;
  throw new AlreadyExists(key!, submitted.id, { submitted: columns.name, existing: submitted.name });
}

/** @throws {AlreadyExists} for the first key that belongs to a task of another name. */
export function refuseOtherNames(tasks: readonly NewTask[], submitted: SubmittedTask[]): SubmittedTask[] {
  for (const [i, task] of tasks.entries()) {
    if (task.requiresSameName && submitted[i]!.name !== task.columns.name)
      refuseRejected(task, submitted[i]!);
  }
  return submitted;
}
