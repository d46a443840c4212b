/** How the methods of a `Wadi` name a task: by id, by key, or by a task that was read before. */
import { InvalidArgument } from "../../core/errors/errors.ts";
import type { TaskRef } from "../../core/operations/read.ts";
import type { Task } from "../../core/task.ts";
import { show, text } from "../../core/validate.ts";
import { type AnyTaskDefinition, noDefinition } from "../define-task.ts";

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

/** What a method that takes a definition or none was called with. */
export type RefArguments<Options> =
  | readonly [ref: string, options?: Options]
  | readonly [AnyTaskDefinition, ref: string, options?: Options];

/** @throws {InvalidArgument} if an object is passed that is no definition. */
export function splitRef<Options>(args: RefArguments<Options>): {
  readonly definition: AnyTaskDefinition | null;
  readonly ref: string;
  readonly options: Options | undefined;
} {
  if (!isWithDefinition(args)) return { definition: null, ref: args[0], options: args[1] };
  const [definition, ref, options] = args;
  if (definition.payload === undefined) throw noDefinition(definition);
  return { definition, ref, options };
}

/** @throws {InvalidArgument} if the task is not one of the definition. */
export function ofDefinition(task: Task, definition: AnyTaskDefinition | null): Task {
  if (definition === null || task.name === definition.name) return task;
  throw new InvalidArgument(
    `task ${task.id} is one of "${task.name}", not of "${definition.name}"; pass the definition of that name, or none`,
  );
}

function isWithDefinition<Options>(
  args: RefArguments<Options>,
): args is Extract<RefArguments<Options>, readonly [AnyTaskDefinition, ...unknown[]]> {
  // A task, which has an id, is refused where the id is checked.
  return typeof args[0] === "object" && args[0] !== null && !("id" in args[0]);
}
