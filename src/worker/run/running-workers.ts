import { InvalidArgument } from "../../core/errors/errors.ts";

/** A worker that runs, as copies of this module in one process see each other's. */
interface Running {
  /** The name it was given; null if it was given none. */
  readonly name: string | null;
  /** What it claims: queues with names. */
  readonly lanes: readonly string[];
  /** Stops it as its owner would. */
  stop(): void;
}

type Workers = Set<Running>;

/** By what identifies a database in this process, see `Executor.database`. */
interface Board {
  readonly texts: Map<string, Workers>;
  readonly objects: WeakMap<object, Workers>;
}

/** A module that is loaded again, or several times, finds the workers of the other copies here. The number changes with the shape. */
const BOARD = Symbol.for("wadi.workers.1");

function workersOf(database: string | object): Workers {
  const place = globalThis as { [BOARD]?: Board };
  place[BOARD] ??= { texts: new Map(), objects: new WeakMap() };
  const { texts, objects } = place[BOARD];
  const known = typeof database === "string" ? texts.get(database) : objects.get(database);
  if (known !== undefined) return known;
  const workers: Workers = new Set();
  if (typeof database === "string") texts.set(database, workers);
  else objects.set(database, workers);
  return workers;
}

/**
 * Enters a worker that is about to run on a database, and returns how to take it out again. One of the same name, as a
 * reloaded module makes it, takes the place of the one before, which is stopped.
 *
 * @throws {InvalidArgument} if a worker of this process runs the same tasks, and their names do not say that both are wanted.
 */
export function enterRunning(database: string | object, running: Running): () => void {
  const workers = workersOf(database);
  const lanes = new Set(running.lanes);
  for (const other of [...workers]) {
    const shared = other.lanes.find((lane) => lanes.has(lane));
    if (shared === undefined) continue;
    if (running.name === null || other.name === null) throw runsAlready(shared);
    if (running.name !== other.name) continue;
    workers.delete(other);
    other.stop();
  }
  workers.add(running);
  return () => {
    workers.delete(running);
  };
}

function runsAlready(lane: string): InvalidArgument {
  const [queue, name] = lane.split("\0");
  return new InvalidArgument(
    `a worker of this process already runs "${name}" of the queue "${queue}" on this database, perhaps from a module that was loaded twice or reloaded; stop that one first, keep one worker on globalThis, or give them names: of two with the same name the new one replaces the old, two with different names both run`,
  );
}
