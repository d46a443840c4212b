import { InvalidArgument } from "../../core/errors/errors.ts";
import { checkIndexedTogether } from "../../core/index-limits.ts";
import { checkSize, decodeJson, encodeJson, type JsonTarget } from "../../core/json/json.ts";
import { isPlain } from "../../core/json/plain-json.ts";
import type { NewTask } from "../../core/operations/submit.ts";
import type { Json } from "../../core/task.ts";
import { newTaskId } from "../../core/ulid.ts";
import { instant, integer, onlyKnown, optionalText, show, text } from "../../core/validate.ts";
import { type AnyTaskDefinition, noDefinition } from "../define-task.ts";
import { limitRow } from "../limits.ts";
import { invalid, type StandardResult } from "../standard-schema.ts";
import { pacing } from "./debounce-throttle.ts";
import { familyOf, type Lineage } from "./lineage.ts";
import { SUBMIT_OPTIONS, type SubmitOptions } from "./submit-options.ts";

/** Checks and serialises one submit. */
export type Prepare = (
  task: string | AnyTaskDefinition,
  payload: unknown,
  options?: SubmitOptions,
) => NewTask;

/** Metadata that each submit of a `Wadi` carries, such as the context of a trace. */
export type MetadataHook = (task: { readonly name: string; readonly queue: string }) => {
  readonly [key: string]: Json;
};

/** What a submit gets from its `Wadi`, or from the task that makes it. */
export interface PrepareContext {
  readonly lineage?: Lineage | undefined;
  readonly hook?: MetadataHook | undefined;
  readonly keysAcrossNames?: boolean | undefined;
}

/**
 * Checks and serialises one submit. Nothing is sent.
 *
 * @throws {InvalidArgument} naming the option that is out of range.
 * @throws {SerializationError} if the payload or the metadata is not JSON.
 */
export function prepareTask(
  target: JsonTarget,
  task: string | AnyTaskDefinition,
  given: unknown,
  options: SubmitOptions = {},
  { lineage, hook, keysAcrossNames = false }: PrepareContext = {},
): NewTask {
  const definition = typeof task === "string" ? null : task;
  if (definition !== null && definition?.payload === undefined) throw noDefinition(task);
  const name = text("task name", definition?.name ?? task);
  onlyKnown("submit", options, SUBMIT_OPTIONS);
  const payload = given === undefined ? {} : given; // as other SDKs store it
  const key = optionalText("key", options.key);
  const { conflict, maxDelayMs, throttleMs, ...pace } = pacing(options, key);
  const limits = limitRow(name, options.limits ?? definition?.limits ?? null, payload);
  const queue = text("queue", options.queue ?? definition?.queue ?? "default");
  checkIndexedTogether({ queue, "task name": name, "limits.key": limits?.key ?? "" });
  const { maxAttempts, maxCrashes, priority, runAt, correlationId } = options;
  const payloadJson = encodeJson(payload, `the payload of ${name}`, target);
  const hooked =
    hook === undefined
      ? undefined
      : fields(hook({ name, queue }), "what the metadata hook of new Wadi returns");
  const metadata = encodeMetadata(target, hooked, fields(options.metadata, "metadata"));
  if (metadata !== "{}") checkSize(`the payload and metadata of ${name}`, [payloadJson, metadata], target);
  return {
    columns: {
      id: newTaskId(),
      name,
      queue,
      payload: payloadJson,
      metadata,
      max_attempts: integer("maxAttempts", maxAttempts ?? definition?.maxAttempts ?? 3, 1, 1_000_000),
      max_crashes: integer("maxCrashes", maxCrashes ?? definition?.maxCrashes ?? 3, 1, 1_000_000),
      priority: integer("priority", priority ?? definition?.priority ?? 0, -1000, 1000),
      delay_ms: pace.delayMs,
      run_at_ms: runAt === undefined ? null : instant("runAt", runAt),
      ...familyOf(options, lineage),
      correlation_id: optionalText("correlationId", correlationId) ?? lineage?.correlationId ?? null,
      concurrency_key: limits?.key ?? "",
    },
    key,
    conflict,
    requiresSameName: !keysAcrossNames,
    maxDelayMs,
    throttleMs,
    limits,
  };
}

/**
 * Checks a payload, as its handler will get it, against the schema of its definition; synchronous if the schema is.
 *
 * @throws {InvalidArgument} naming the places that are wrong, never their values.
 */
export function validatePayload(
  task: string | AnyTaskDefinition,
  { columns: { payload } }: NewTask,
): void | Promise<void> {
  if (typeof task === "string" || task.payload === null) return;
  const refuse = ({ issues }: StandardResult<unknown>): void => {
    if (issues) throw new InvalidArgument(invalid("payload", task.name, issues), { cause: issues });
  };
  const checked = task.payload["~standard"].validate(decodeJson(payload));
  return "then" in checked ? Promise.resolve(checked).then(refuse) : refuse(checked);
}

/** Whether its fields are what it is written as: not so of a list, a Map, a Date, or the promise of an async hook. */
function isFields(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return isPlain(value) && typeof (value as { toJSON?: unknown }).toJSON !== "function";
}

/** @throws {InvalidArgument} naming what is no object of fields. */
function fields(value: unknown, what: string): unknown {
  if (value === undefined || isFields(value)) return value;
  const isInstance = typeof value === "object" && value !== null && !Array.isArray(value);
  const found = isInstance ? `a ${value.constructor?.name ?? "class"}` : show(value);
  throw new InvalidArgument(`${what} must be an object with JSON values, got ${found}`);
}

/** What the submit says goes before what the hook says. */
function encodeMetadata(target: JsonTarget, ...sources: unknown[]): string {
  const given = sources.filter((source) => source !== undefined);
  if (given.length === 0) return "{}";
  // Without a prototype: `__proto__` is a name like any other.
  return encodeJson(Object.assign(Object.create(null), ...given), "metadata", target);
}
