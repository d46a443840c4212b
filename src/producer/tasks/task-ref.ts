/** How the methods of a `Wadi` name a task: by id, by key, or by a task that was read before. */
import { InvalidArgument } from "../../core/errors/errors.ts";
import type { TaskRef } from "../../core/operations/read.ts";
import type { Task } from "../../core/task.ts";
import { show, text } from "../../core/validate.ts";

export function byId(id: string): { readonly id: string } {
  if (typeof (id as unknown as Task | null)?.id === "string") {
    throw new InvalidArgument("id must be a string, got a task; pass task.id");
  }
  return { id: text("id", id) };
}

export function byKey(key: string): TaskRef {
  return { key: text("key", key) };
}

/** @throws {InvalidArgument} naming the method, if it is neither a task nor the id of one. */
export function byTask(method: string, task: string | Task): TaskRef {
  if (typeof task === "string") return byId(task);
  if (typeof task?.id === "string") return byId(task.id);
  const found = typeof task === "object" && task !== null ? "an object without an id" : show(task);
  throw new InvalidArgument(`${method} takes a task or its id, got ${found}`);
}
