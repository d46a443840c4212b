/** The documentation of the methods that wait; `Wadi` has them. */
import type { TaskState } from "../../core/operations/read.ts";
import type { Task } from "../../core/task.ts";
import type { AnyTaskDefinition } from "../define-task.ts";
import type { TaskOf } from "../task-types.ts";
import type { WaitOptions } from "./wait-options.ts";

/** The methods of a `Wadi` that wait for tasks. All waits of one `Wadi` share their polls. */
export interface TaskWaits {
  /**
   * Waits until a task has succeeded, failed or was canceled, and returns it.
   *
   * @throws {TaskTimeout} with the task as last seen; the task itself goes on.
   * @example
   * ```ts
   * const task = await wadi.submit(resize, { url: "https://example.com/a.png" });
   * const { status, result } = await wadi.wait(task, { timeoutMs: 60_000 });
   * ```
   */
  wait<Payload, Result>(task: Task<Payload, Result>, options?: WaitOptions): Promise<Task<Payload, Result>>;
  wait(id: string, options?: WaitOptions): Promise<Task>;

  /**
   * Waits for the task of a key. If the task is replaced, the wait goes on with the new one; a key without a task may
   * get one during the wait. With a definition the task has its types; without one the types are an unchecked claim of
   * the caller.
   *
   * @throws {InvalidArgument} if the ended task is not one of the definition.
   * @example
   * ```ts
   * const { result } = await wadi.waitByKey(resize, "image:a");
   * console.log(result?.bytes);
   * ```
   */
  waitByKey<Payload = unknown, Result = unknown>(
    key: string,
    options?: WaitOptions,
  ): Promise<Task<Payload, Result>>;
  waitByKey<T extends AnyTaskDefinition>(task: T, key: string, options?: WaitOptions): Promise<TaskOf<T>>;

  /**
   * Waits until all of these tasks are terminal and returns them in this order. One request polls all that have not
   * ended; whole rows are read a hundred at a time. An empty list sends nothing.
   *
   * @throws {TaskTimeout} with the ids that are `missing`.
   * @example
   * ```ts
   * const submitted = await wadi.submitMany("mail", [{ payload: { to: "ada@example.com" } }]);
   * const ended = await wadi.waitMany(submitted);
   * ```
   */
  waitMany<Payload, Result>(
    tasks: readonly Task<Payload, Result>[],
    options?: WaitOptions,
  ): Promise<Task<Payload, Result>[]>;
  waitMany(ids: readonly (string | Task)[], options?: WaitOptions): Promise<Task[]>;

  /**
   * `waitMany` for the tasks of keys, each as in `waitByKey`.
   *
   * @example
   * ```ts
   * const [a, b] = await wadi.waitManyByKey(["image:a", "image:b"]);
   * ```
   */
  waitManyByKey<Payload = unknown, Result = unknown>(
    keys: readonly string[],
    options?: WaitOptions,
  ): Promise<Task<Payload, Result>[]>;

  /**
   * The states of a task, each time its status, progress, message or attempt has changed, until it is terminal. Changes
   * in quick succession may be reported as one. It polls as `wait` does, while the caller waits for the next state;
   * `return()`, or leaving a `for await`, ends it at once.
   *
   * @throws {InvalidArgument} at once; {TaskTimeout} while iterating, with the task as last seen.
   * @example
   * ```ts
   * const { id } = await wadi.submit("import", { file: "rows.csv" });
   * for await (const { status, progress } of wadi.watch(id)) console.log(status, progress);
   * ```
   */
  watch(task: string | Task, options?: WaitOptions): AsyncIterableIterator<TaskState>;

  /**
   * `watch` for the task of a key, as in `waitByKey`.
   *
   * @example
   * ```ts
   * for await (const { status } of wadi.watchByKey("image:a")) console.log(status);
   * ```
   */
  watchByKey(key: string, options?: WaitOptions): AsyncIterableIterator<TaskState>;
}
