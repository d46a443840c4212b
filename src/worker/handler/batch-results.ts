import { TaskError } from "../../core/errors/errors.ts";
import type { BatchResults } from "../task-context.ts";

/**
 * The result of the task `id` in the return value of its handler. A batch handler (`batch` is not null) returns results
 * of many tasks; a task without one has the result null.
 *
 * @throws {TaskError} `invalid_result` if a batch handler returned an array.
 */
export function resultOf(id: string, returned: unknown, batch: number | null): unknown {
  if (batch === null) return returned;
  if (returned instanceof Map) return returned.get(id);
  // An array does not say which tasks its results belong to. One without results is allowed: `Promise.all` makes such.
  if (Array.isArray(returned) && returned.some((value) => (value ?? null) !== null)) {
    throw new TaskError("a batch handler returns a Map or an object with results by task id, not an array", {
      code: "invalid_result",
      retryable: false,
    });
  }
  return returned === null || typeof returned !== "object" || !Object.hasOwn(returned, id)
    ? null
    : (returned as Exclude<BatchResults, ReadonlyMap<string, unknown>>)[id];
}
