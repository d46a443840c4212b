import { neon } from "@neondatabase/serverless";
import { Pool } from "pg";
import { neonHttp } from "../../../src/drivers/neon.ts";
import { pg } from "../../../src/drivers/pg.ts";
import { Wadi } from "../../../src/index.ts";
import { startNeonEndpoint } from "../../../testing/neon-endpoint.ts";
import { startPostgres } from "../../../testing/postgres.ts";
import { openHttpLink } from "./http-link.ts";
import { type OpenSide, pick, prepare, repeat, SUBMIT_RETRY } from "./side.ts";
import { type Accepted, produce } from "./tasks.ts";
import { WorkerProcess } from "./worker-process.ts";

/** The queue of the worker whose requests are doubled. */
const QUEUES = ["once", "once", "doubled"] as const;
/** Longer than any fault of this side: a worker that sends again loses no lease, and no task loses an attempt. */
const LEASE_MS = 20_000;
const EVERY_MS = 1500;
/**
 * With a single attempt a task fails whose claim or settlement was not asked for again after a lost answer. A claim
 * that arrives twice leases tasks that its worker does not know of, and they are queued again when the lease expires.
 */
const MAX_ATTEMPTS = { once: 1, doubled: 50 } as const;

/** A database over HTTP whose requests get lost, late and doubled, and whose answers get lost. */
export const openNeonSide: OpenSide = async (scene, perSecond) => {
  const server = await startPostgres();
  const postgresUrl = await server.createDatabase();
  const endpoint = await startNeonEndpoint({ postgresUrl });
  const names = QUEUES.map((_, n) => `neon-${n}`);
  const target = Number(new URL(endpoint.connectionString).port);
  const links = await Promise.all(
    [...names, "producer"].map((name) => openHttpLink(target, name, scene.log)),
  );
  const through = (port: number) =>
    Object.assign(new URL(endpoint.connectionString), { port: String(port) }).href;
  const pool = new Pool({ connectionString: postgresUrl, max: 2 });
  const direct = pg(pool);
  await prepare(new Wadi(direct));
  const producer = new Wadi(neonHttp(neon(through(links.at(-1)!.port))), { requestRetry: SUBMIT_RETRY });
  const workers = names.map((name, n) => {
    const address = { target: "neon-http", url: through(links[n]!.port) } as const;
    const queue = QUEUES[n]!;
    return new WorkerProcess(scene, { name, address, queue, leaseMs: LEASE_MS, concurrency: 8, prefetch: 0 });
  });
  const accepted: Accepted[] = [];
  return {
    name: "neon",
    leaseMs: LEASE_MS,
    accepted,
    direct,
    async work(signal) {
      const submits = (queue: "once" | "doubled", share: number) => {
        const rate = { perSecond: perSecond * share, maxAttempts: MAX_ATTEMPTS[queue], queue };
        return produce(producer, rate, signal, accepted, scene.recovered);
      };
      const inject = (kind: "dropped" | "delayed" | "lostAnswers") =>
        repeat(EVERY_MS, signal, () => pick(links).inject(kind));
      await Promise.all([
        submits("once", 2 / 3),
        submits("doubled", 1 / 3),
        inject("dropped"),
        inject("delayed"),
        inject("lostAnswers"),
        // Submits too, and the settlements of the worker that has the queue of doubled requests.
        repeat(EVERY_MS, signal, () => pick(links.slice(2)).inject("doubled")),
      ]);
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.stop()));
      await new Wadi(direct).close();
      await pool.end();
      await Promise.all(links.map((link) => link.close()));
      await endpoint.stop();
      await server.stop();
    },
  };
};
