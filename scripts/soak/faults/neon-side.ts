import { neon } from "@neondatabase/serverless";
import { Pool } from "pg";
import { neonHttp } from "../../../src/drivers/neon.ts";
import { pg } from "../../../src/drivers/pg.ts";
import { Wadi } from "../../../src/index.ts";
import { startNeonEndpoint } from "../../../test/support/neon-endpoint.ts";
import { startPostgres } from "../../../test/support/postgres.ts";
import { openHttpLink } from "./http-link.ts";
import { type OpenSide, pick, prepare, repeat, SUBMIT_RETRY } from "./side.ts";
import { type Accepted, produce } from "./tasks.ts";
import { WorkerProcess } from "./worker-process.ts";

const WORKERS = 2;
/** No fault of this side lasts that long: a worker that sends again loses no lease, and no task an attempt. */
const LEASE_MS = 15_000;
const EVERY_MS = 2200;
/** So that a task whose claim or settlement was not asked for again fails. */
const MAX_ATTEMPTS = 1;

/** A database over HTTP whose requests get lost, late and doubled, and whose answers get lost. */
export const openNeonSide: OpenSide = async (scene, perSecond) => {
  const server = await startPostgres();
  const postgresUrl = await server.createDatabase();
  const endpoint = await startNeonEndpoint({ postgresUrl });
  const names = Array.from({ length: WORKERS }, (_, n) => `neon-${n}`);
  const target = Number(new URL(endpoint.connectionString).port);
  const links = await Promise.all(
    [...names, "producer"].map((name) => openHttpLink(target, name, scene.log)),
  );
  const through = (port: number) =>
    Object.assign(new URL(endpoint.connectionString), { port: String(port) }).href;
  const pool = new Pool({ connectionString: postgresUrl, max: 2 });
  const direct = pg(pool);
  await prepare(new Wadi(direct));
  const producer = new Wadi(neonHttp(neon(through(links.at(-1)!.port))), { retry: SUBMIT_RETRY });
  const workers = names.map((name, n) => {
    const address = { target: "neon-http", url: through(links[n]!.port) } as const;
    return new WorkerProcess(scene, { name, address, leaseMs: LEASE_MS, concurrency: 8, prefetch: 0 });
  });
  const accepted: Accepted[] = [];
  return {
    name: "neon",
    leaseMs: LEASE_MS,
    accepted,
    direct,
    async work(signal) {
      const inject = (kind: "dropped" | "delayed" | "doubled" | "lostAnswers") =>
        repeat(EVERY_MS, signal, () => pick(links).inject(kind));
      await Promise.all([
        produce(producer, { perSecond, maxAttempts: MAX_ATTEMPTS }, signal, accepted, scene.survived),
        inject("dropped"),
        inject("delayed"),
        inject("doubled"),
        inject("lostAnswers"),
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
