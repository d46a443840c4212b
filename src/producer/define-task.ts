/** Task definitions: a name, defaults and types that producers and workers share. */

import { type Checks, checkOptions, integerFrom, optional, optionalMs } from "../core/check-options.ts";
import { InvalidArgument } from "../core/errors/errors.ts";
import { checkIndexedTogether } from "../core/index-limits.ts";
import type { IfWritable, JsonForm } from "../core/json/json-form.ts";
import { MAX_DELAY_MS, optionalText, requireRecord, show, text } from "../core/validate.ts";
import { checkLimits, type TaskLimits } from "./fleet-limits.ts";
import { checkOnFailed, type OnFailedTask } from "./on-failed.ts";
import type { InferInput, InferOutput, StandardSchemaV1 } from "./standard-schema.ts";

/** The name of a task, and the defaults of its submits. */
export interface TaskOptions {
  /** Name of the handler. Producers and workers agree on it. */
  readonly name: string;
  /** Where its tasks wait, unless a submit says otherwise. @default "default" */
  readonly queue?: string | undefined;
  /** Attempts before a retryable failure is final. Minimum `1`. @default 3 */
  readonly maxAttempts?: number | undefined;
  /**
   * Leases that may expire, as they do when a worker is killed, freezes or runs out of memory, before the task fails
   * as `max_crashes`, attempts left or not. Minimum `1`. @default 3
   */
  readonly maxCrashes?: number | undefined;
  /** Higher runs first, from -1000 to 1000. @default 0 */
  readonly priority?: number | undefined;
  /**
   * Longest run of one attempt in milliseconds. Then the handler's `signal` aborts, and the attempt fails as
   * `handler_timeout` unless the handler returns a result at once. A drain whose budget is shorter leaves the task to
   * longer ones. Minimum `1`.
   * @default none
   */
  readonly maxRunMs?: number | undefined;
  /**
   * Milliseconds after its due time within which a worker must have claimed a task. Else it ends as `canceled`, with
   * the error code `expired`. Minimum `1`.
   * @default none
   */
  readonly expiresInMs?: number | undefined;
  /**
   * The task to submit when a task of this one has failed for good, without attempts left or as not retryable: a
   * definition without `limits`, or a name. Its payload is an `OnFailedPayload`, its parent the failed task. A canceled
   * task has not failed. The task that is submitted has no `onFailed` itself.
   * @default none
   */
  readonly onFailed?: OnFailedTask | undefined;
}

/** A task's name, defaults and types, shared by producers and workers. Made by `defineTask`. */
export interface TaskDefinition<Input = unknown, Payload = Input, Result = unknown> {
  /** Names the handler. */
  readonly name: string;
  /** Where its tasks wait, unless a submit says otherwise. */
  readonly queue: string;
  /** Attempts before a retryable failure is final. */
  readonly maxAttempts: number;
  /** Leases that may expire before the task fails. */
  readonly maxCrashes: number;
  /** Higher runs first. */
  readonly priority: number;
  /** Longest run of one attempt in milliseconds; null: no limit. */
  readonly maxRunMs: number | null;
  /** Milliseconds after its due time within which a worker must have claimed a task; null: no limit. */
  readonly expiresInMs: number | null;
  /** Limits over all workers; null: none. */
  readonly limits: TaskLimits<Input> | null;
  /** The task to submit when one of this definition has failed for good; null: none. */
  readonly onFailed: OnFailedTask | null;
  /** The schema of the payload; null: it is not validated. */
  readonly payload: StandardSchemaV1<Input, Payload> | null;
  /** The schema of the result; null: it is not validated. */
  readonly result: StandardSchemaV1<unknown, Result> | null;
}

/** A definition of any payload and result. */
// biome-ignore lint/suspicious/noExplicitAny: a definition is invariant in its input, and only `any` fits all of them
export type AnyTaskDefinition = TaskDefinition<any, any, any>;

/** With a schema, its types of the payload: as submitted, and as the handler gets it. Without one, the JSON form. */
type Definition<Payload, Result, Schema> = [Schema] extends [StandardSchemaV1]
  ? TaskDefinition<InferInput<Schema>, InferOutput<Schema>, Result>
  : TaskDefinition<Payload, JsonForm<Payload>, Result>;

/** Refuses a definition whose types JSON cannot hold, by a required field whose type says what is wrong. */
type JsonCompatible<Payload, Result, Schema> = ([Schema] extends [StandardSchemaV1]
  ? [JsonForm<InferInput<Schema>>] extends [InferInput<Schema>]
    ? unknown
    : {
        readonly "the payload schema": "refuses the JSON form of its input, as of a Date: let it accept that form";
      }
  : IfWritable<
      Payload,
      unknown,
      { readonly "the payload type": "holds what JSON cannot, such as a Map, a bigint or a function" }
    >) &
  IfWritable<
    Result,
    unknown,
    { readonly "the result type": "holds what JSON cannot, such as a Map, a bigint or a function" }
  >;

/**
 * Declares a task: its name, its defaults, and the types of its payload and result.
 *
 * With a `payload` schema (of any Standard Schema library), payloads are validated in their JSON form when they are
 * submitted, and again when they are claimed; an invalid one that another client submitted fails for good as
 * `invalid_payload`. With a `result` schema, the handler's return value is validated too, and gives the result its
 * type; `typed<Result>()` gives it a type without validation. Without schemas, pass both types. Payloads that
 * handlers get and results that are read have their JSON form: a `Date` is a string. Types that JSON cannot hold
 * do not compile.
 *
 * @throws {InvalidArgument} if an option is out of range.
 * @example
 * ```ts
 * import * as v from "valibot";
 * import { defineTask, typed } from "wadi";
 *
 * const resize = defineTask({
 *   name: "image.resize",
 *   payload: v.object({ url: v.string() }),
 *   result: typed<{ bytes: number }>(),
 *   maxAttempts: 5,
 * });
 * const mail = defineTask<{ to: string }>({ name: "mail" });
 * ```
 */
export function defineTask<
  Payload = unknown,
  Result = unknown,
  Schema extends StandardSchemaV1 | undefined = undefined,
>(
  options: TaskOptions & {
    readonly payload?: Schema;
    readonly result?: StandardSchemaV1<unknown, Result> | undefined;
    /**
     * How many of these tasks run at a time, and start in a window of time, over all workers. The key may depend on the
     * payload. @default none
     */
    readonly limits?: TaskLimits<Schema extends StandardSchemaV1 ? InferInput<Schema> : Payload> | undefined;
  } & JsonCompatible<Payload, Result, Schema>,
): Definition<Payload, Result, Schema>;
export function defineTask(
  options: TaskOptions & {
    readonly payload?: StandardSchemaV1 | undefined;
    readonly result?: StandardSchemaV1 | undefined;
    readonly limits?: TaskLimits<never> | undefined;
  },
): AnyTaskDefinition {
  requireRecord("the options of defineTask", options);
  const definition = checkOptions("defineTask", options, DEFINITION);
  const { queue, name } = definition;
  checkIndexedTogether({ queue, name });
  return definition;
}

/**
 * Gives a result its type in place of a schema, and validates nothing.
 *
 * @example
 * ```ts
 * import { defineTask, typed } from "wadi";
 *
 * const count = defineTask({ name: "count", result: typed<{ rows: number }>() });
 * ```
 */
export function typed<T>(): StandardSchemaV1<unknown, T> {
  return TYPE_ONLY as StandardSchemaV1<unknown, never>;
}

const DEFINITION: Checks<AnyTaskDefinition> = {
  name: text,
  queue: (option, value) => optionalText(option, value) ?? "default",
  maxAttempts: integerFrom(1, 1_000_000, 3),
  maxCrashes: integerFrom(1, 1_000_000, 3),
  priority: integerFrom(-1000, 1000, 0),
  maxRunMs: optionalMs,
  expiresInMs: optional(integerFrom(1, MAX_DELAY_MS)),
  limits: optional((_, limits) => checkLimits(limits as TaskLimits)),
  onFailed: optional(checkOnFailed),
  payload: schema,
  result: schema,
};

const TYPE_ONLY: StandardSchemaV1 = {
  "~standard": { version: 1, vendor: "wadi", validate: (value) => ({ value }) },
};

/** The error for an object that `defineTask` did not make: it lacks the defaults. */
export function noDefinition(got: unknown): InvalidArgument {
  const found = typeof got === "object" && got !== null ? "another object" : show(got);
  return new InvalidArgument(`a task must be a name, or the result of defineTask({ name }), got ${found}`);
}

function schema(option: string, value: unknown): StandardSchemaV1 | null {
  if (value === undefined) return null;
  if (value === TYPE_ONLY) {
    if (option === "result") return null;
    throw new InvalidArgument(
      "typed() is for a result; give a payload its type as in defineTask<Payload, Result>()",
    );
  }
  const given = value as StandardSchemaV1 | null;
  if (typeof given?.["~standard"]?.validate !== "function") {
    throw new InvalidArgument(
      `${option} must be a Standard Schema (zod, valibot, arktype, ...), got ${show(value)}`,
    );
  }
  return given;
}
