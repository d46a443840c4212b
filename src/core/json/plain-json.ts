/** Checks that a value is plain JSON before it is serialised, and says where it is not. */

import { SerializationError } from "../errors/errors.ts";

// SQLite reads JSON down to 1000 levels, and stored JSON is sent inside other JSON.
const MAX_DEPTH = 500;

/** The place of a value inside the value that is checked. */
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

function refuse(what: string, path: Path | null, found: string, advice = "pass plain JSON values"): never {
  const where = path === null ? what : `${what} at ${show(path)}`;
  throw new SerializationError(`${where} is ${found}, which JSON cannot hold; ${advice}`);
}

/**
 * Checks that a value is plain JSON, or has a `toJSON()`. Anything else, such as a Promise, a Response or an instance
 * of a class, would silently become `{}`.
 *
 * @throws {SerializationError} naming the place of what is not.
 */
export function checkPlain(value: unknown, what: string): void {
  check(value, what, null, new Set());
}

/** Linear in the number of values: all calls share one set of parents, and a path becomes text only in an error. */
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
  parents.add(value);
  const json = "toJSON" in value && typeof value.toJSON === "function" ? written(value, what, path) : value;
  if (typeof json === "object" && json !== null) checkFields(json, what, path, parents);
  else check(json, what, path, parents);
  parents.delete(value);
}

/** An object is written by its fields or elements; the result of a `toJSON()` is not asked for another one. */
function checkFields(value: object, what: string, path: Path | null, parents: Set<object>): void {
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) check(value[at], what, { within: path, at }, parents);
    return;
  }
  if (!isPlain(value)) {
    const boxed = unboxed(value);
    if (boxed === undefined) refuseInstance(value, what, path);
    check(boxed, what, path, parents);
    return;
  }
  for (const at of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[at];
    if (member !== undefined) check(member, what, { within: path, at }, parents);
  }
}

/** The value that JSON.stringify writes in place of an object with a `toJSON()`. */
function written(value: object, what: string, path: Path | null): unknown {
  let json: unknown;
  try {
    json = (value as { toJSON(key: string): unknown }).toJSON(path === null ? "" : String(path.at));
  } catch (cause) {
    throw new SerializationError(`${what} has a toJSON() that throws`, { cause });
  }
  // An invalid Date writes itself as null.
  if (json === null && tagOf(value) === "Date") refuse(what, path, "an invalid Date");
  return json;
}

/** Whether an object holds nothing except its fields: of this realm, of another one, or without a prototype. */
export function isPlain(value: object): boolean {
  if (Symbol.iterator in value) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** The primitive in an object such as `new Number(1)`, which JSON.stringify writes as that primitive. */
function unboxed(value: object): unknown {
  return ["Number", "String", "Boolean"].includes(tagOf(value)) ? value.valueOf() : undefined;
}

function tagOf(value: object): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

function refuseInstance(value: object, what: string, path: Path | null): never {
  const made = value.constructor;
  const name = (typeof made === "function" && made.name) || tagOf(value);
  const found = `${/^[AEIO]/.test(name) ? "an" : "a"} ${name}`;
  if ("then" in value) refuse(what, path, found, "await it first");
  refuse(what, path, found, "pass plain JSON values, or give it a toJSON()");
}
