/** Keeps two workers of one process from running the same tasks by mistake. */

import { InvalidArgument } from "../../core/errors/errors.ts";

/** A worker that runs, as all copies of this module in one process see it. */
interface RunningWorker {
  /** The name that the application gave it; null if it gave none. */
  readonly name: string | null;
  /** Keys of the task names and queues that it claims from. */
  readonly lanes: readonly string[];
  stop(): void;
}

/**
 * The running workers of each database. A database is identified as in `Executor.database`: by a text or by an
 * object.
 */
interface Registry {
  readonly texts: Map<string, Set<RunningWorker>>;
  readonly objects: WeakMap<object, Set<RunningWorker>>;
}

/**
 * Global key of the registry, so that a module that is loaded again, or twice, finds the workers of its other copies.
 * The number changes with the shape of the registry.
 */
const REGISTRY = Symbol.for("wadi.workers.1");

function workersOf(database: string | object): Set<RunningWorker> {
  const scope = globalThis as { [REGISTRY]?: Registry };
  scope[REGISTRY] ??= { texts: new Map(), objects: new WeakMap() };
  const { texts, objects } = scope[REGISTRY];
  const known = typeof database === "string" ? texts.get(database) : objects.get(database);
  if (known !== undefined) return known;
  const workers = new Set<RunningWorker>();
  if (typeof database === "string") texts.set(database, workers);
  else objects.set(database, workers);
  return workers;
}

/**
 * Registers a worker that is about to run on a database, and returns a function that removes it. Another worker of
 * the same name that runs the same tasks, such as the one of a module before its reload, is stopped and replaced.
 *
 * @throws {InvalidArgument} if another worker of this process runs the same tasks, and one of the two has no name.
 */
export function registerRunning(database: string | object, worker: RunningWorker): () => void {
  const workers = workersOf(database);
  const lanes = new Set(worker.lanes);
  for (const other of [...workers]) {
    const shared = other.lanes.find((lane) => lanes.has(lane));
    if (shared === undefined) continue;
    if (worker.name === null || other.name === null) throw runsAlready(shared);
    if (worker.name !== other.name) continue;
    workers.delete(other);
    other.stop();
  }
  workers.add(worker);
  return () => {
    workers.delete(worker);
  };
}

function runsAlready(lane: string): InvalidArgument {
  const [queue, name] = lane.split("\0");
  return new InvalidArgument(
    `a worker of this process already runs "${name}" of the queue "${queue}" on this database, perhaps from a module ` +
      "that was loaded twice or reloaded; stop that one first, keep one worker on globalThis, or give them names: " +
      "of two with the same name the new one replaces the old, two with different names both run",
  );
}
