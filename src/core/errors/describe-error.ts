/** Turns anything that was thrown into a bounded record that JSON and every database can hold. */

import type { Json } from "../task.ts";
import { causeOf } from "./causes.ts";

/** Longest text of an error that is stored, in characters. */
const MAX_TEXT = 4000;
const MAX_NAME = 200;
/** Longest stack of an error, and of one that caused it. */
const MAX_STACK = 4000;
const MAX_INNER_STACK = 1500;
const MAX_INNER_TEXT = 1000;
/** How many causes are followed, and how many errors of an AggregateError are kept. */
const MAX_CAUSES = 8;
const MAX_ERRORS = 10;
/** Most characters kept of all causes and inner errors together. */
const MAX_INNER = 16_000;

/** A thrown value may contain anything; NUL and lone surrogates would make Postgres refuse the whole settlement. */
export function cleanText(value: unknown, maxLength = MAX_TEXT): string {
  let text: string;
  try {
    text = typeof value === "string" ? value : String(value);
  } catch {
    return ""; // no primitive value, or its toString throws
  }
  return text.slice(0, maxLength).replaceAll("\0", "").toWellFormed();
}

/** The parts of an error that help a person, in plain JSON. `name` and `message` are always present. */
export interface ErrorRecord {
  name: string;
  message: string;
  /** Such as `ENOENT` or an SQLSTATE. */
  code?: string | number;
  stack?: string;
  /** Its cause, with the causes of that, up to a limit. */
  cause?: Json;
  /** The errors of an AggregateError. */
  errors?: Json[];
}

/** The value that was read; undefined if reading it throws: anything can be thrown, such as a hostile proxy. */
function unlessThrown<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function readProperty(value: object, key: string): unknown {
  return unlessThrown(() => (value as Record<string, unknown>)[key]);
}

/** Whether the value is an Error, of this realm or another. */
export function isError(value: unknown): value is Error {
  const tag = () => Object.prototype.toString.call(value);
  return unlessThrown(() => value instanceof Error || tag() === "[object Error]") ?? false;
}

/** Whether the value is an error, or an object with a message. */
export function isErrorLike(value: unknown): value is object {
  return (
    isError(value) ||
    (Object(value) === value && typeof readProperty(value as object, "message") === "string")
  );
}

/** Describes an error in a bounded size. Never throws. */
export function describeError(error: object): ErrorRecord {
  return new Description().of(error, MAX_TEXT, MAX_STACK);
}

class Description {
  readonly #seen = new Set<object>();
  #left = MAX_INNER;

  of(error: object, maxText: number, maxStack: number): ErrorRecord {
    this.#seen.add(error);
    const name = readProperty(error, "name");
    const message = readProperty(error, "message") ?? "";
    const record: ErrorRecord = {
      name: cleanText(name === undefined || name === "" ? kindOf(error) : name, MAX_NAME),
      message: cleanText(message, maxText),
    };
    const code = readProperty(error, "code");
    if (Number.isFinite(code)) record.code = code as number;
    else if (typeof code === "string" && code !== "") record.code = cleanText(code, MAX_NAME);
    const stack = stackOf(error, message, maxStack);
    if (stack !== "") record.stack = stack;
    if (this.#seen.size > 1) this.#left -= record.name.length + record.message.length + stack.length;
    const cause = unlessThrown(() => causeOf(error));
    if (cause !== undefined && cause !== null && this.#seen.size <= MAX_CAUSES) {
      const inner = this.#inner(cause);
      if (inner !== undefined) record.cause = inner;
    }
    const errors = this.#errors(readProperty(error, "errors"));
    if (errors.length > 0) record.errors = errors;
    return record;
  }

  #errors(errors: unknown): Json[] {
    if (!Array.isArray(errors)) return [];
    const kept: Json[] = [];
    for (let i = 0; i < Math.min(errors.length, MAX_ERRORS); i++) {
      const inner = this.#inner(readProperty(errors, String(i)));
      if (inner !== undefined) kept.push(inner);
    }
    return kept;
  }

  #inner(value: unknown): Json | undefined {
    if (value === undefined || this.#left <= 0) return undefined;
    if (!isErrorLike(value)) {
      const text = typeof value === "object" && value !== null ? undefined : cleanText(value, MAX_INNER_TEXT);
      this.#left -= text?.length ?? 0;
      return text;
    }
    if (this.#seen.has(value)) return undefined;
    return this.of(value, MAX_INNER_TEXT, Math.min(MAX_INNER_STACK, this.#left)) as unknown as Json;
  }
}

function kindOf(error: object): string {
  const kind = readProperty(error, "constructor");
  const name = typeof kind === "function" ? readProperty(kind, "name") : undefined;
  return typeof name === "string" && name !== "" ? name : "Error";
}

/** The stack with a shortened message: a long message, which is stored separately, would leave no room for frames. */
function stackOf(error: object, message: unknown, maxLength: number): string {
  const stack = readProperty(error, "stack");
  if (typeof stack !== "string" || maxLength <= 0) return "";
  const isLong = typeof message === "string" && message.length > MAX_NAME;
  return cleanText(isLong ? stack.replace(message, "...") : stack, maxLength);
}
