/** The ready-made hints: in a KV namespace or the storage of a Durable Object, by an object's stub, in memory. */

import { InvalidArgument } from "../../core/errors/errors.ts";
import { show, text } from "../../core/validate.ts";
import type { Hint, HintOptions } from "./hint.ts";

/** The part of a KV namespace of Cloudflare, or of the storage of a Durable Object, that a hint uses. */
export interface KvLike {
  get(key: string): Promise<unknown>;
  put(key: string, value: string): Promise<unknown>;
}

/** The methods that the class of a Durable Object has for `hintByDurableObject`. */
export interface HintObjectLike {
  getHint(cell: string): Promise<string | null>;
  setHint(cell: string, text: string): Promise<unknown>;
}

/**
 * A hint in a KV namespace of Cloudflare, or in the storage of a Durable Object. A read of KV may be older by a minute
 * than the newest write, and a task is late by as much.
 *
 * @param key Begins the name of each cell; another for each database.
 * @throws {InvalidArgument} if it is neither.
 * @example
 * ```ts
 * import { hintInKv, type KvLike, Wadi } from "wadi";
 *
 * const wadiOf = (env: { readonly KV: KvLike }) => new Wadi(executor, { hint: hintInKv(env.KV) });
 * ```
 */
export function hintInKv(namespace: KvLike, key = "wadi", options: HintOptions = {}): Hint {
  if (typeof namespace?.put !== "function")
    throw new InvalidArgument(`hintInKv takes a namespace with get and put, got ${show(namespace)}`);
  text("the key of hintInKv", key);
  return {
    ...options,
    get: async (cell) => ((await namespace.get(`${key}:${cell}`)) ?? null) as string | null,
    set: (cell, value) => namespace.put(`${key}:${cell}`, value),
  };
}

/**
 * A hint in a Durable Object, asked by its stub. Its class has `getHint(cell)` and `setHint(cell, text)`, which read
 * and write its storage: no read is older than the newest write.
 *
 * @throws {InvalidArgument} if it has no such methods.
 * @example
 * ```ts
 * import { type HintObjectLike, hintByDurableObject, Wadi } from "wadi";
 *
 * const wadiOf = (stub: HintObjectLike) => new Wadi(executor, { hint: hintByDurableObject(stub) });
 * ```
 */
export function hintByDurableObject(stub: HintObjectLike, options: HintOptions = {}): Hint {
  if (typeof stub?.getHint !== "function" || typeof stub.setHint !== "function")
    throw new InvalidArgument(
      `hintByDurableObject takes a stub whose class has getHint and setHint, got ${show(stub)}`,
    );
  return {
    ...options,
    get: (cell) => stub.getHint(cell),
    set: (cell, value) => stub.setHint(cell, value),
  };
}

/**
 * A hint in the memory of this process, for a server that drains by a timer. Share it between all that submit and
 * drain there; it knows nothing of other processes.
 *
 * @example
 * ```ts
 * import { hintInMemory, Wadi } from "wadi";
 *
 * const wadi = new Wadi(executor, { hint: hintInMemory() });
 * ```
 */
export function hintInMemory(options: HintOptions = {}): Hint {
  const cells = new Map<string, string>();
  return {
    ...options,
    get: (cell) => cells.get(cell) ?? null,
    set: (cell, value) => void cells.set(cell, value),
  };
}
