/** Sets that all copies of this package in one process share, one for each database. */

/** By what identifies a database in this process: a text, or the client object. */
interface Sets<T> {
  readonly texts: Map<string, Set<T>>;
  readonly objects: WeakMap<object, Set<T>>;
}

/**
 * The map that has the set of this database, if there is one.
 *
 * @param kind Of the registry: `Symbol.for` a name, since a bundler may load a module several times in a process. The
 * name ends with a number that changes with the shape of the registry or of its members.
 */
export function sharedSets<T>(
  kind: symbol,
  database: string | object,
): Pick<Map<string | object, Set<T>>, "get" | "set" | "delete"> {
  const place = globalThis as { [kind: symbol]: Sets<T> | undefined };
  place[kind] ??= { texts: new Map(), objects: new WeakMap() };
  const { texts, objects } = place[kind];
  return (typeof database === "string" ? texts : objects) as Map<string | object, Set<T>>;
}
