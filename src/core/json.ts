import { InvalidArgument, SerializationError } from "./errors.ts";
import type { Executor } from "./executor.ts";
import type { Json } from "./task.ts";

/** What about a database decides whether it can hold a JSON text. */
export type JsonTarget = Pick<Executor, "name" | "dialect" | "limits">;

// jsonb refuses \u0000 and lone surrogates; a backslash before them must itself be escaped an even number of times.
const REFUSED_BY_JSONB = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89ab][0-9a-f]{2}|d[c-f][0-9a-f]{2})/;

// SQLite reads JSON down to 1000 levels, and what is stored travels inside other JSON.
const MAX_DEPTH = 500;

function refuse(what: string, path: string, found: string): never {
  const where = path === "" ? what : `${what} at ${path}`;
  throw new SerializationError(`${where} is ${found}, which JSON cannot hold; pass plain JSON values`);
}

function check(value: unknown, what: string, path: string, parents: readonly object[]): void {
  if (value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value))
    return;
  if (typeof value !== "object") {
    const named = typeof value === "number" || value === undefined;
    refuse(what, path, named ? String(value) : `a ${typeof value}`);
  }
  if (parents.includes(value)) refuse(what, path, "a reference to its own parent");
  if (parents.length === MAX_DEPTH) {
    throw new SerializationError(`${what} is nested more than ${MAX_DEPTH} levels deep; flatten it`);
  }
  if ("toJSON" in value) return;
  const within = [...parents, value];
  if (Array.isArray(value)) {
    for (const [i, member] of value.entries()) check(member, what, `${path}[${i}]`, within);
    return;
  }
  if (Symbol.iterator in value) refuse(what, path, `a ${value.constructor.name}`);
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) check(member, what, path === "" ? key : `${path}.${key}`, within);
  }
}

/**
 * Serialises a value for one database, strictly.
 *
 * @throws {SerializationError} for what JSON, or this database's JSON type, cannot hold.
 * @throws {InvalidArgument} if the text is larger than the database takes in one parameter.
 */
export function encodeJson(value: unknown, what: string, target: JsonTarget): string {
  check(value, what, "", []);
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw new SerializationError(`${what} has a toJSON() that throws`, { cause });
  }
  if (text === undefined) refuse(what, "", "undefined");
  if (target.dialect === "postgres" && text.includes("\\u") && REFUSED_BY_JSONB.test(text)) {
    throw new SerializationError(
      `${what} holds a NUL character or half of a surrogate pair, which Postgres cannot store; remove it`,
    );
  }
  const max = target.limits.maxParamBytes;
  if (text.length * 3 > max) {
    const bytes = byteLength(text);
    if (bytes > max) {
      throw new InvalidArgument(
        `${what} is ${bytes} bytes of JSON, ${target.name} takes at most ${max}; store it elsewhere and pass a reference`,
      );
    }
  }
  return text;
}

/** Size of a text in UTF-8 bytes. */
export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

export function decodeJson(text: string): Json {
  return JSON.parse(text) as Json;
}
