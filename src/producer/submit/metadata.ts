/** The metadata of a task: what the submit gives, and what the hook of its `Wadi` adds. */

import { InvalidArgument } from "../../core/errors/errors.ts";
import { isRecord } from "../../core/json/is-record.ts";
import { encodeJson, type JsonTarget } from "../../core/json/json.ts";
import { isPlain } from "../../core/json/plain-json.ts";
import type { Json } from "../../core/task.ts";
import { show } from "../../core/validate.ts";

/** Metadata that each submit of a `Wadi` carries, such as the context of a trace. */
export type MetadataHook = (task: { readonly name: string; readonly queue: string }) => {
  readonly [key: string]: Json;
};

/**
 * Entries of the submit override those of the hook.
 *
 * @throws {InvalidArgument} if either is not an object with JSON values.
 */
export function encodeMetadata(
  target: JsonTarget,
  task: { readonly name: string; readonly queue: string },
  hook: MetadataHook | undefined,
  given: unknown,
): string {
  const hooked = hook && checkFields(hook(task), "what the metadata hook of new Wadi returns");
  const sources = [hooked, checkFields(given, "metadata")].filter((source) => source !== undefined);
  if (sources.length === 0) return "{}";
  // Without a prototype: `__proto__` is a name like any other.
  return encodeJson(Object.assign(Object.create(null), ...sources), "metadata", target);
}

function checkFields(value: unknown, what: string): object | undefined {
  if (value === undefined || isFields(value)) return value;
  const isInstance = isRecord(value);
  const found = isInstance ? `a ${value.constructor?.name ?? "class"}` : show(value);
  throw new InvalidArgument(`${what} must be an object with JSON values, got ${found}`);
}

/** Whether its JSON form has its fields: not so for a list, a Map, a Date, or the promise of an async hook. */
function isFields(value: unknown): value is object {
  if (!isRecord(value)) return false;
  return isPlain(value) && typeof (value as { toJSON?: unknown }).toJSON !== "function";
}
