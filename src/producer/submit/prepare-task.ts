/** The first two stages of a submit: checks the arguments of one task, and serialises them into columns of its row. */
import { checkIndexedTogether } from "../../core/index-limits.ts";
import { checkSize, encodeJson, type JsonTarget } from "../../core/json/json.ts";
import type { NewTask } from "../../core/operations/submit.ts";
import { newTaskId } from "../../core/ulid.ts";
import { instant, integer, MAX_DELAY_MS, onlyKnown, optionalText, text } from "../../core/validate.ts";
import { type AnyTaskDefinition, noDefinition } from "../define-task.ts";
import { limitRow } from "../fleet-limits.ts";
import { checkOnFailed, type OnFailedTask, onFailedJson } from "../on-failed.ts";
import { pacingOf } from "./debounce-throttle.ts";
import { familyOf, type Lineage } from "./lineage.ts";
import { encodeMetadata, type MetadataHook } from "./metadata.ts";
import { SUBMIT_OPTIONS, type SubmitOptions } from "./submit-options.ts";

/** One task to submit, as the application gives it. */
export interface SubmitRequest {
  readonly task: string | AnyTaskDefinition;
  readonly payload: unknown;
  readonly options?: SubmitOptions | undefined;
  /** The task whose handler submits it. */
  readonly lineage?: Lineage | undefined;
}

/** What all submits of one `Wadi` have in common. */
export interface SubmitDefaults {
  readonly hook?: MetadataHook | undefined;
  readonly keysAcrossNames?: boolean | undefined;
}

/**
 * @throws {InvalidArgument} naming the option that is out of range.
 * @throws {SerializationError} if the payload or the metadata is not JSON.
 */
export function prepareTask(
  target: JsonTarget,
  { task, payload: given, options = {}, lineage }: SubmitRequest,
  { hook, keysAcrossNames }: SubmitDefaults = {},
): NewTask {
  const definition = typeof task === "string" ? null : task;
  if (definition !== null && definition?.payload === undefined) throw noDefinition(task);
  const name = text("task name", definition?.name ?? task);
  onlyKnown("submit", options, SUBMIT_OPTIONS);
  const value = given === undefined ? {} : given; // as other SDKs store it
  const key = optionalText("key", options.key);
  const { delayMs, ...pacing } = pacingOf(options, key);
  const limits = limitRow(name, options.limits ?? definition?.limits ?? null, value);
  const queue = text("queue", options.queue ?? definition?.queue ?? "default");
  checkIndexedTogether({ queue, "task name": name, "limits.key": limits?.key ?? "" });
  const expiresInMs = options.expiresInMs ?? definition?.expiresInMs ?? null;
  const payload = encodeJson(value, `the payload of ${name}`, target);
  const metadata = encodeMetadata(target, { name, queue }, hook, options.metadata);
  if (metadata !== "{}") checkSize(`the payload and metadata of ${name}`, [payload, metadata], target);
  const { maxAttempts, maxCrashes, priority, runAt, correlationId } = options;
  return {
    columns: {
      id: newTaskId(),
      name,
      queue,
      payload,
      metadata,
      max_attempts: integer("maxAttempts", maxAttempts ?? definition?.maxAttempts ?? 3, 1, 1_000_000),
      max_crashes: integer("maxCrashes", maxCrashes ?? definition?.maxCrashes ?? 3, 1, 1_000_000),
      priority: integer("priority", priority ?? definition?.priority ?? 0, -1000, 1000),
      delay_ms: delayMs,
      run_at_ms: runAt === undefined ? null : instant("runAt", runAt),
      expires_in_ms: expiresInMs === null ? null : integer("expiresInMs", expiresInMs, 1, MAX_DELAY_MS),
      ...familyOf(options, lineage),
      correlation_id: optionalText("correlationId", correlationId) ?? lineage?.correlationId ?? null,
      concurrency_key: limits?.key ?? "",
      on_failed: onFailedJson(onFailedOf(options, definition)),
    },
    ...pacing,
    key,
    requiresSameName: keysAcrossNames !== true,
    limits,
  };
}

function onFailedOf({ onFailed }: SubmitOptions, definition: AnyTaskDefinition | null): OnFailedTask | null {
  if (onFailed === undefined) return definition?.onFailed ?? null;
  return onFailed === null ? null : checkOnFailed("onFailed", onFailed);
}
