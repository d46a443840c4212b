import { isObject } from "./scenario.ts";

/** Results by alias. */
export type Saved = ReadonlyMap<string, unknown>;

const REFERENCE = /^\$[A-Za-z_][\w-]*(\.[\w-]+)*$/;

/** Replaces each `$alias.path` in a value, however deep, by what it refers to. */
export function resolve(value: unknown, saved: Saved): unknown {
  if (typeof value === "string" && REFERENCE.test(value)) return dereference(value, saved);
  if (Array.isArray(value)) return value.map((item) => resolve(item, saved));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([field, item]) => [field, resolve(item, saved)]));
}

/** What `$alias.path` refers to; the dollar may be left out where only a reference can stand. */
export function dereference(reference: unknown, saved: Saved): unknown {
  if (typeof reference !== "string") throw new Error(`${JSON.stringify(reference)} is no reference`);
  const [alias, ...path] = reference.replace(/^\$/, "").split(".");
  if (!saved.has(alias!)) throw new Error(`${reference}: nothing was saved as "${alias}"`);
  const root = saved.get(alias!);
  const found = path.length === 0 ? root : lookup(root, path.join("."));
  if (found === undefined) throw new Error(`${reference}: there is no such field in ${show(root)}`);
  return found;
}

/** The subject of an assertion: a value, or a reference, which is null if it leads nowhere. */
export function find(target: unknown, saved: Saved): unknown {
  if (typeof target !== "string" || !REFERENCE.test(target)) return resolve(target, saved);
  const [alias, ...path] = target.slice(1).split(".");
  if (!saved.has(alias!)) return dereference(target, saved);
  const root = saved.get(alias!);
  return (path.length === 0 ? root : lookup(root, path.join("."))) ?? null;
}

/** The field, or dotted path, of a value; undefined if there is none. */
export function lookup(value: unknown, path: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  if (Object.hasOwn(value, path)) return (value as Record<string, unknown>)[path];
  for (let dot = path.indexOf("."); dot !== -1; dot = path.indexOf(".", dot + 1)) {
    const head = path.slice(0, dot);
    if (!Object.hasOwn(value, head)) continue;
    return lookup((value as Record<string, unknown>)[head], path.slice(dot + 1));
  }
  return undefined;
}

/** A value as it appears in messages, cut to a readable length. */
export function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 400 ? `${text.slice(0, 400)}...` : text;
}
