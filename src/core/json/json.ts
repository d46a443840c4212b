/** JSON that a database can hold: strict serialisation, sizes, and parsing. */

import { InvalidArgument, SerializationError } from "../errors/errors.ts";
import type { Executor } from "../executor.ts";
import type { Json } from "../task.ts";
import { checkPlain } from "./plain-json.ts";

/** The properties of a database that decide whether it can hold a JSON text. */
export type JsonTarget = Pick<Executor, "name" | "dialect" | "limits">;

// jsonb refuses \u0000 and lone surrogates; a backslash before them must itself be escaped an even number of times.
const REFUSED_BY_JSONB = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89ab][0-9a-f]{2}|d[c-f][0-9a-f]{2})/;

/**
 * Serialises a value for one database, strictly.
 *
 * @throws {SerializationError} for what JSON, or this database's JSON type, cannot hold.
 * @throws {InvalidArgument} if the text is larger than the database takes in one parameter.
 */
export function encodeJson(value: unknown, what: string, target: JsonTarget): string {
  checkPlain(value, what);
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw new SerializationError(`${what} has a toJSON() that throws`, { cause });
  }
  if (text === undefined)
    throw new SerializationError(`${what} has a toJSON() that returns undefined; return a JSON value`);
  if (target.dialect === "postgres" && text.includes("\\u") && REFUSED_BY_JSONB.test(text)) {
    throw new SerializationError(
      `${what} contains a NUL character or a lone surrogate, which Postgres cannot store; remove it`,
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
