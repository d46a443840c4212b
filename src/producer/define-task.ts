import { integer, MAX_TIMER_MS, onlyKnown, optionalText, text } from "../core/arguments.ts";
import { InvalidArgument } from "../core/errors.ts";
import { checkIndexedTogether } from "../core/index-limits.ts";
import { checkLimits, type TaskLimits } from "./limits.ts";
import type { InferInput, InferOutput, StandardSchemaV1 } from "./standard-schema.ts";

export interface TaskOptions {
  /** Name of the handler. Producers and workers agree on it. */
  readonly name: string;
  /** @default "default" */
  readonly queue?: string | undefined;
  /** Attempts before a retryable failure is final. Minimum `1`. @default 3 */
  readonly maxAttempts?: number | undefined;
  /**
   * Leases that may run out, as they do when a worker is killed, freezes or runs out of memory, before the task fails
   * as `max_crashes`, attempts left or not. Minimum `1`. @default 3
   */
  readonly maxCrashes?: number | undefined;
  /** Higher runs first, from -1000 to 1000. @default 0 */
  readonly priority?: number | undefined;
  /**
   * Longest run of one attempt in milliseconds; past it the attempt fails as `handler_timeout`. A drain that is
   * shorter than this leaves the task to longer ones. @default none
   */
  readonly maxRunMs?: number | undefined;
}

/** A task's name, defaults and types, shared by producers and workers. Made by `defineTask`. */
export interface TaskDefinition<Input = unknown, Payload = Input, Result = unknown> {
  readonly name: string;
  readonly queue: string;
  readonly maxAttempts: number;
  readonly maxCrashes: number;
  readonly priority: number;
  readonly maxRunMs: number | null;
  readonly limits: TaskLimits<Input> | null;
  readonly payload: StandardSchemaV1<Input, Payload> | null;
  readonly result: StandardSchemaV1<unknown, Result> | null;
}

// biome-ignore lint/suspicious/noExplicitAny: a definition is invariant in its input; `any` is the one type all of them fit
export type AnyTaskDefinition = TaskDefinition<any, any, any>;

/**
 * Declares a task: its name, its defaults, and the types of its payload and result.
 *
 * With a `payload` schema (any Standard Schema library) payloads are validated when they are submitted
 * and again when they are claimed; an invalid one from elsewhere fails for good as `invalid_payload`.
 * With a `result` schema what the handler returns is validated too, and the result has its type; with a payload
 * schema alone the result is `unknown`. Without schemas give both types.
 *
 * @throws {InvalidArgument} if an option is out of range.
 * @example const resize = defineTask<{ url: string }, { bytes: number }>({ name: "image.resize" });
 */
export function defineTask<PS extends StandardSchemaV1, RS extends StandardSchemaV1 = StandardSchemaV1>(
  options: TaskOptions & {
    readonly payload: PS;
    readonly result?: RS;
    readonly limits?: TaskLimits<InferInput<PS>> | undefined;
  },
): TaskDefinition<InferInput<PS>, InferOutput<PS>, InferOutput<RS>>;
export function defineTask<Payload = unknown, Result = unknown>(
  options: TaskOptions & {
    readonly payload?: undefined;
    readonly result?: StandardSchemaV1<unknown, Result>;
    /** What the whole fleet may do at once with these tasks; its key may depend on the payload. @default none */
    readonly limits?: TaskLimits<Payload> | undefined;
  },
): TaskDefinition<Payload, Payload, Result>;
export function defineTask(
  options: TaskOptions & {
    readonly payload?: StandardSchemaV1 | undefined;
    readonly result?: StandardSchemaV1 | undefined;
    readonly limits?: TaskLimits<never> | undefined;
  },
): AnyTaskDefinition {
  onlyKnown("defineTask", options ?? null, [
    "name",
    "queue",
    "maxAttempts",
    "maxCrashes",
    "priority",
    "maxRunMs",
    "limits",
    "payload",
    "result",
  ]);
  const name = text("name", options.name);
  const queue = optionalText("queue", options.queue) ?? "default";
  checkIndexedTogether({ queue, name });
  return {
    name,
    queue,
    maxAttempts: integer("maxAttempts", options.maxAttempts ?? 3, 1, 1_000_000),
    maxCrashes: integer("maxCrashes", options.maxCrashes ?? 3, 1, 1_000_000),
    priority: integer("priority", options.priority ?? 0, -1000, 1000),
    maxRunMs: options.maxRunMs === undefined ? null : integer("maxRunMs", options.maxRunMs, 1, MAX_TIMER_MS),
    limits: options.limits === undefined ? null : (checkLimits(options.limits) as TaskLimits),
    payload: schema("payload", options.payload),
    result: schema("result", options.result),
  };
}

/** An object that was written by hand lacks the defaults. */
export function noDefinition(): InvalidArgument {
  return new InvalidArgument("a task is a name, or what defineTask({ name }) gives; got another object");
}

function schema(option: string, value: StandardSchemaV1 | undefined): StandardSchemaV1 | null {
  if (value === undefined) return null;
  if (typeof value?.["~standard"]?.validate !== "function") {
    throw new InvalidArgument(`${option} must be a Standard Schema (zod, valibot, arktype, ...)`);
  }
  return value;
}
