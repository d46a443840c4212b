import { InvalidArgument } from "../../core/errors/errors.ts";
import { checkIndexedTogether } from "../../core/index-limits.ts";
import { MAX_TIMER_MS } from "../../core/timers.ts";
import { integer, onlyKnown, optionalText, show, text } from "../../core/validate.ts";
import { type AnyTaskDefinition, defineTask, noDefinition } from "../../producer/define-task.ts";
import type { StandardSchemaV1 } from "../../producer/standard-schema.ts";
import type { BatchHandler, Handler } from "../task-context.ts";
import { RunTimes } from "./run-times.ts";

export interface HandlerOptions {
  /** Where the tasks of this handler come from. @default the definition's queue, else the worker's */
  readonly queue?: string | undefined;
  /** Several queues instead of one; the name's `concurrency` counts over all of them. Not together with `queue`. @default none */
  readonly queues?: readonly string[] | undefined;
  /**
   * Longest run of one attempt in milliseconds. A drain that is shorter leaves the name out. Minimum `1`.
   * @default the definition's, else the worker's, else none
   */
  readonly maxRunMs?: number | undefined;
  /**
   * Most calls of this handler at once. The name then has slots of its own, in addition to those that the others share.
   * Minimum `1`. @default it shares the worker's `concurrency`
   */
  readonly concurrency?: number | undefined;
  /**
   * Calls the handler with up to this many tasks at once, as a list of contexts. The name then has slots of its own.
   * Minimum `1`. @default one task a call
   */
  readonly batch?: number | undefined;
  /** A name of the worker's `resources`; names that share it run no more calls at once than it has. @default none */
  readonly resource?: string | undefined;
}

/** One name a worker can run. */
export interface Registration {
  readonly queues: readonly string[];
  readonly name: string;
  /** Takes a list of contexts if there is a `batch`, else one context. */
  readonly handler: Handler | BatchHandler;
  /** Null: no limit of its own. */
  readonly maxRunMs: number | null;
  /** Most calls at once; null: as many as its pool has slots. */
  readonly concurrency: number | null;
  /** Most tasks a call; null: one, and not as a list. */
  readonly batch: number | null;
  readonly resource: string | null;
  readonly payload: StandardSchemaV1 | null;
  readonly result: StandardSchemaV1 | null;
  readonly runs: RunTimes;
}

/** What a worker gives to names that do not say it themselves. */
export interface HandlerDefaults {
  readonly queues: readonly string[];
  readonly maxRunMs: number | null;
  readonly resources: ReadonlyMap<string, number>;
}

const OPTIONS = ["queue", "queues", "maxRunMs", "concurrency", "batch", "resource"];

/** Checks what was passed to `worker.task`. */
export function register(
  task: string | AnyTaskDefinition,
  handler: Handler<never, unknown> | BatchHandler<never, unknown>,
  options: HandlerOptions,
  defaults: HandlerDefaults,
): Registration {
  if (typeof handler === "object" && typeof options === "function") {
    throw new InvalidArgument(
      "worker.task takes the handler before its options: task(name, handler, options)",
    );
  }
  onlyKnown("task", options, OPTIONS);
  const definition = typeof task === "string" ? defineTask({ name: task }) : task;
  if (definition?.payload === undefined) throw noDefinition(task);
  const { name, payload, result } = definition;
  if (typeof handler !== "function")
    throw new InvalidArgument(`the handler of "${name}" must be a function, got ${show(handler)}`);
  for (const queue of queuesOf(options) ?? []) checkIndexedTogether({ queue, "task name": name });
  const ownQueues = typeof task === "string" ? defaults.queues : [definition.queue];
  return {
    queues: queuesOf(options) ?? ownQueues,
    name,
    handler: handler as Handler | BatchHandler,
    maxRunMs: optionalMs("maxRunMs", options.maxRunMs) ?? definition.maxRunMs ?? defaults.maxRunMs,
    concurrency:
      options.concurrency === undefined ? null : integer("concurrency", options.concurrency, 1, 10_000),
    batch: options.batch === undefined ? null : integer("batch", options.batch, 1, 10_000),
    resource: resourceOf(options.resource, defaults.resources),
    payload,
    result,
    runs: new RunTimes(),
  };
}

/** The queues that `queue` or `queues` names; null if neither is there. */
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

export function optionalMs(option: string, value: number | undefined): number | null {
  return value === undefined ? null : integer(option, value, 1, MAX_TIMER_MS);
}

function resourceOf(value: string | undefined, declared: ReadonlyMap<string, number>): string | null {
  const resource = optionalText("resource", value);
  if (resource !== null && !declared.has(resource)) {
    throw new InvalidArgument(
      `the resource "${resource}" is not declared; pass new Worker(wadi, { resources: { "${resource}": 1 } })`,
    );
  }
  return resource;
}

/** What a claim knows a name by. */
export function laneKey({ queue, name }: { readonly queue: string; readonly name: string }): string {
  return `${queue}\0${name}`;
}
