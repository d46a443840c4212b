import { InvalidArgument, SerializationError } from "./errors.ts";
import type { Executor } from "./executor.ts";
import type { Json } from "./task.ts";

/** What about a database decides whether it can hold a JSON text. */
export type JsonTarget = Pick<Executor, "name" | "dialect" | "limits">;

// jsonb refuses \u0000 and lone surrogates; a backslash before them must itself be escaped an even number of times.
const REFUSED_BY_JSONB = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89ab][0-9a-f]{2}|d[c-f][0-9a-f]{2})/;

// SQLite reads JSON down to 1000 levels, and what is stored travels inside other JSON.
const MAX_DEPTH = 500;

/** Where a value stands in what holds it. */
interface Path {
  readonly within: Path | null;
  readonly at: string | number;
}

function show(path: Path | null): string {
  if (path === null) return "";
  const before = show(path.within);
  if (typeof path.at === "number") return `${before}[${path.at}]`;
  return before === "" ? path.at : `${before}.${path.at}`;
}

function refuse(what: string, path: Path | null, found: string): never {
  const where = path === null ? what : `${what} at ${show(path)}`;
  throw new SerializationError(`${where} is ${found}, which JSON cannot hold; pass plain JSON values`);
}

/** Its time grows with the number of values: `parents` is one set for all of them, and a path is text only in an error. */
function check(value: unknown, what: string, path: Path | null, parents: Set<object>): void {
  if (value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value))
    return;
  if (typeof value !== "object") {
    const named = typeof value === "number" || value === undefined;
    refuse(what, path, named ? String(value) : `a ${typeof value}`);
  }
  if (parents.has(value)) refuse(what, path, "a reference to its own parent");
  if (parents.size === MAX_DEPTH) {
    throw new SerializationError(`${what} is nested more than ${MAX_DEPTH} levels deep; flatten it`);
  }
  if ("toJSON" in value) return;
  if (!Array.isArray(value) && Symbol.iterator in value) refuse(what, path, `a ${value.constructor.name}`);
  parents.add(value);
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) check(value[at], what, { within: path, at }, parents);
  } else {
    for (const at of Object.keys(value)) {
      const member = (value as Record<string, unknown>)[at];
      if (member !== undefined) check(member, what, { within: path, at }, parents);
    }
  }
  parents.delete(value);
}

/**
 * Serialises a value for one database, strictly.
 *
 * @throws {SerializationError} for what JSON, or this database's JSON type, cannot hold.
 * @throws {InvalidArgument} if the text is larger than the database takes in one parameter.
 */
export function encodeJson(value: unknown, what: string, target: JsonTarget): string {
  check(value, what, null, new Set());
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw new SerializationError(`${what} has a toJSON() that throws`, { cause });
  }
  if (text === undefined) refuse(what, null, "undefined");
  if (target.dialect === "postgres" && text.includes("\\u") && REFUSED_BY_JSONB.test(text)) {
    throw new SerializationError(
      `${what} holds a NUL character or half of a surrogate pair, which Postgres cannot store; remove it`,
    );
  }
  checkSize(what, [text], target);
  return text;
}

/** @throws {InvalidArgument} if these texts together are larger than the database takes in one parameter. */
export function checkSize(what: string, texts: readonly string[], { name, limits }: JsonTarget): void {
  const max = limits.maxParamBytes;
  if (texts.reduce((sum, { length }) => sum + length, 0) * 3 <= max) return;
  const bytes = texts.reduce((sum, text) => sum + byteLength(text), 0);
  if (bytes <= max) return;
  throw new InvalidArgument(
    `${what} is ${bytes} bytes of JSON, ${name} takes at most ${max}; store it elsewhere and pass a reference`,
  );
}

/** Size of a text in UTF-8 bytes. */
export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

export function decodeJson(text: string): Json {
  return JSON.parse(text) as Json;
}
