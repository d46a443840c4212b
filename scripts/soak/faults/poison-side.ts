// The side of the soak with faults on which tasks kill their workers' processes.

import { join } from "node:path";
import Database from "better-sqlite3";
import { betterSqlite3 } from "../../../src/drivers/better-sqlite3.ts";
import { Wadi } from "../../../src/index.ts";
import { type OpenSide, pause, prepare } from "./side.ts";
import { type Accepted, produce, TASK } from "./tasks.ts";
import { WorkerProcess } from "./worker-process.ts";

const WORKERS = 2;
const LEASE_MS = 1800;
/** The default of a task: tasks next to a poisonous one must not need more. */
const MAX_ATTEMPTS = 3;
/** Attempts do not end a poisonous task, only the rule of crashes does. */
const POISON_ATTEMPTS = 1_000_000;
const POISON_CRASHES = 3;

/** A file whose workers are killed by one poisonous task after the other, among good ones. */
export const openPoisonSide: OpenSide = async (scene, perSecond) => {
  const path = join(scene.folder, "poison.db");
  const db = new Database(path);
  const direct = betterSqlite3(db);
  const producer = new Wadi(direct);
  await prepare(producer);
  const accepted: Accepted[] = [];
  const address = { target: "better-sqlite3-file", url: path } as const;
  const workers = new Map<string, WorkerProcess>();
  let isOver = false;

  /** Starts a worker, and another one whenever it is killed, as a platform does. */
  function start(name: string): void {
    const worker = new WorkerProcess(scene, {
      name,
      address,
      leaseMs: LEASE_MS,
      concurrency: 8,
      prefetch: 4,
    });
    workers.set(name, worker);
    void worker.exited.then(() => {
      if (isOver || !worker.isKilled) return;
      scene.log.add("poison", name);
      start(name);
    });
  }
  for (let n = 0; n < WORKERS; n++) start(`poison-${n}`);

  /** One at a time: the next comes when the last has ended. */
  async function poison(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const options = { maxAttempts: POISON_ATTEMPTS, maxCrashes: POISON_CRASHES, priority: 1 };
      const { id } = await producer.submit(TASK, { ms: 0, poison: true }, options);
      accepted.push({ id, poison: true });
      while (!signal.aborted && (await producer.get(id))?.status !== "failed") await pause(100, signal);
    }
  }

  return {
    name: "poison",
    leaseMs: LEASE_MS,
    accepted,
    direct,
    async work(signal) {
      await Promise.all([
        produce(producer, { perSecond, maxAttempts: MAX_ATTEMPTS }, signal, accepted, scene.recovered),
        poison(signal),
      ]);
    },
    async close() {
      isOver = true;
      await Promise.all([...workers.values()].map((worker) => worker.stop()));
      db.close();
    },
  };
};
