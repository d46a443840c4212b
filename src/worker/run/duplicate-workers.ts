/** Keeps two workers of one process from running the same tasks by mistake. */

import { InvalidArgument } from "../../core/errors/errors.ts";
import { sharedSets } from "../../core/shared-sets.ts";

/** A worker that runs, as all copies of this module in one process see it. */
interface RunningWorker {
  /** The name that the application gave it; null if it gave none. */
  readonly name: string | null;
  /** Keys of the task names and queues that it claims from. */
  readonly lanes: readonly string[];
  stop(): void;
}

const RUNNING = Symbol.for("wadi.workers.1");

/**
 * Registers a worker that is about to run on a database, and returns a function that removes it. Another worker of
 * the same name that runs the same tasks, such as the one of a module before its reload, is stopped and replaced.
 *
 * @throws {InvalidArgument} if another worker of this process runs the same tasks, and one of the two has no name.
 */
export function registerRunning(database: string | object, worker: RunningWorker): () => void {
  const sets = sharedSets<RunningWorker>(RUNNING, database);
  const workers = sets.get(database) ?? new Set();
  sets.set(database, workers);
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
      "that was loaded twice; stop that one first, or give both names: a worker replaces one of the same name",
  );
}
