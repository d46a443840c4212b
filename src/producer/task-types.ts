/** What submits and reads return, by the definition or the name that they are called with. */
import type { JsonForm, JsonResult } from "../core/json/json-form.ts";
import type { SubmittedTask } from "../core/operations/submit.ts";
import type { Task } from "../core/task.ts";
import type { TaskDefinition } from "./define-task.ts";

// One signature for a name and for a definition, not two overloads: the compiler then reports the argument or the field
// that is wrong, and not the overload that it tried last.

/** The payload that a submit to this task takes; unknown for a name. */
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

/** The result of a task, as it is read. */
export type ResultOf<T> =
  T extends TaskDefinition<infer _Input, infer _Payload, infer Result> ? JsonResult<Result> : unknown;
