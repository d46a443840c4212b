import type { JsonForm, JsonResult } from "../core/json/json-form.ts";
import type { SubmittedTask } from "../core/operations/submit.ts";
import type { Task } from "../core/task.ts";
import type { TaskDefinition } from "./define-task.ts";

// One signature for a name and for a definition, and not two overloads: an error is then told of the argument, or of its
// field, that is wrong, and not of the overload that was tried last.

/** What is submitted to a task; of a name alone nothing is known. */
export type PayloadOf<T> = [T] extends [never]
  ? unknown
  : T extends TaskDefinition<infer Input, infer _Payload, infer _Result>
    ? Input
    : unknown;

/** What a submit to a task returns. */
export type SubmittedOf<T> =
  T extends TaskDefinition<infer Input, infer _Payload, infer Result>
    ? SubmittedTask<JsonForm<Input>, JsonResult<Result>>
    : SubmittedTask;

/** A task of a definition as it is read. */
export type TaskOf<T> =
  T extends TaskDefinition<infer Input, infer _Payload, infer Result>
    ? Task<JsonForm<Input>, JsonResult<Result>>
    : Task;

/** What a task's handler has returned, as it is read. */
export type ResultOf<T> =
  T extends TaskDefinition<infer _Input, infer _Payload, infer Result> ? JsonResult<Result> : unknown;
