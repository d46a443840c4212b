/** Checks a handler that is registered with `worker.task`, and fills in the defaults of its options. */

import {
  type CompleteChecks,
  checkOptions,
  integerFrom,
  optional,
  optionalMs,
  unchecked,
} from "../../core/check-options.ts";
import { InvalidArgument } from "../../core/errors/errors.ts";
import { checkIndexedTogether } from "../../core/index-limits.ts";
import { optionalText, show, text } from "../../core/validate.ts";
import { type AnyTaskDefinition, defineTask, noDefinition } from "../../producer/define-task.ts";
import type { StandardSchemaV1 } from "../../producer/standard-schema.ts";
import type { BatchHandler, Handler } from "../task-context.ts";
import { RunTimes } from "./run-times.ts";

/** Options of `worker.task`. */
export interface HandlerOptions {
  /** Queue whose tasks this handler runs. @default the definition's queue, else the worker's */
  readonly queue?: string | undefined;
  /**
   * Several queues instead of one; `concurrency` counts over all of them. Not together with `queue`.
   * @default none
   */
  readonly queues?: readonly string[] | undefined;
  /**
   * Longest run of one attempt in milliseconds. A drain that has less time skips the name. Minimum `1`.
   * @default the definition's, else the worker's, else none
   */
  readonly maxRunMs?: number | undefined;
  /**
   * Most calls of this handler at once. The name then has dedicated slots, in addition to those that other names share.
   * Minimum `1`.
   * @default it shares the worker's `concurrency`
   */
  readonly concurrency?: number | undefined;
  /**
   * Calls the handler with up to this many tasks at once, as a list of contexts. The name then has dedicated slots.
   * Minimum `1`.
   * @default one task a call
   */
  readonly batch?: number | undefined;
  /**
   * One of the worker's `resources`. All names with the same resource together run at most as many calls at once as it
   * allows.
   * @default none
   */
  readonly resource?: string | undefined;
}

/** A task name that a worker can run: its handler, its queues and its limits. */
export interface Registration {
  readonly queues: readonly string[];
  readonly name: string;
  /** Takes a list of contexts if there is a `batch`, else one context. */
  readonly handler: Handler | BatchHandler;
  /** Null: no limit. */
  readonly maxRunMs: number | null;
  /** Most calls at once; null: as many as its pool has slots. */
  readonly concurrency: number | null;
  /** Most tasks a call; null: the handler takes one task, not a list. */
  readonly batch: number | null;
  readonly resource: string | null;
  readonly payload: StandardSchemaV1 | null;
  readonly result: StandardSchemaV1 | null;
  readonly runs: RunTimes;
}

/** Options of the worker that apply to names registered without them. */
export interface HandlerDefaults {
  readonly queues: readonly string[];
  readonly maxRunMs: number | null;
  readonly resources: ReadonlyMap<string, number>;
}

const OPTIONS = {
  queue: unchecked, // with queues, by queuesOf
  queues: unchecked,
  maxRunMs: optionalMs,
  concurrency: optional(integerFrom(1, 10_000)),
  batch: optional(integerFrom(1, 10_000)),
  resource: optionalText,
} satisfies CompleteChecks<HandlerOptions>;

/** Checks the arguments of `worker.task`. @throws {InvalidArgument} */
export function register(
  task: string | AnyTaskDefinition,
  handler: Handler<never, unknown> | BatchHandler<never, unknown>,
  options: HandlerOptions,
  defaults: HandlerDefaults,
): Registration {
  if (typeof handler === "object" && typeof options === "function") {
    throw new InvalidArgument("worker.task takes (name, handler, options), in this order");
  }
  const { maxRunMs, concurrency, batch, resource } = checkOptions("task", options, OPTIONS);
  const definition = typeof task === "string" ? defineTask({ name: task }) : task;
  if (definition?.payload === undefined) throw noDefinition(task);
  const { name, payload, result } = definition;
  if (typeof handler !== "function")
    throw new InvalidArgument(`the handler of "${name}" must be a function, got ${show(handler)}`);
  for (const queue of queuesOf(options) ?? []) checkIndexedTogether({ queue, "task name": name });
  const defaultQueues = typeof task === "string" ? defaults.queues : [definition.queue];
  return {
    queues: queuesOf(options) ?? defaultQueues,
    name,
    handler: handler as Handler | BatchHandler,
    maxRunMs: maxRunMs ?? definition.maxRunMs ?? defaults.maxRunMs,
    concurrency,
    batch,
    resource: declaredResource(resource, defaults.resources),
    payload,
    result,
    runs: new RunTimes(),
  };
}

/** The queues that `queue` or `queues` names; null if neither is given. */
export function queuesOf(options: Pick<HandlerOptions, "queue" | "queues">): readonly string[] | null {
  const { queue, queues } = options;
  if (queues === undefined) return queue === undefined ? null : [text("queue", queue)];
  if (queue !== undefined) throw new InvalidArgument("pass either queue or queues, not both");
  if (!Array.isArray(queues) || queues.length === 0) {
    throw new InvalidArgument(
      `queues must be an array with at least one queue, got ${Array.isArray(queues) ? "an empty one" : show(queues)}`,
    );
  }
  return [...new Set(queues.map((each) => text("each of queues", each)))];
}

function declaredResource(resource: string | null, declared: ReadonlyMap<string, number>): string | null {
  if (resource !== null && !declared.has(resource)) {
    throw new InvalidArgument(
      `the resource "${resource}" is not declared; pass new Worker(wadi, { resources: { "${resource}": 1 } })`,
    );
  }
  return resource;
}

/** Key of a task name within a queue. */
export function laneKey({ queue, name }: { readonly queue: string; readonly name: string }): string {
  return `${queue}\0${name}`;
}
