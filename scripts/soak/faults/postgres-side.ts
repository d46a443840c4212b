// The side of the soak with faults on a Postgres server that fails over, behind unreliable connections.

import { Client, Pool } from "pg";
import { pg } from "../../../src/drivers/pg.ts";
import { Wadi } from "../../../src/index.ts";
import { startPostgres } from "../../../testing/postgres.ts";
import { type OpenSide, pause, pick, prepare, repeat, SUBMIT_RETRY } from "./side.ts";
import { type Accepted, produce } from "./tasks.ts";
import { openTcpLink } from "./tcp-link.ts";
import { WorkerProcess } from "./worker-process.ts";

const WORKERS = 4;
const LEASE_MS = 8000;
/** The average time between faults of a kind: 400 in ten minutes, fewer on a busy machine. */
const EVERY_MS = 1500;
/** The time between requests that are delayed for longer than a lease, and are outdated when they arrive. */
const HOLD_EVERY_MS = 9000;
const FAIL_OVER_EVERY_MS = 900;
const READ_ONLY_MS = 400;
/** Enough for a task whose workers meet many faults. */
const MAX_ATTEMPTS = 50;

/** A server that fails over, behind connections that break, stall and go silent. */
export const openPostgresSide: OpenSide = async (scene, perSecond) => {
  const { log } = scene;
  const server = await startPostgres();
  const url = await server.createDatabase();
  const names = Array.from({ length: WORKERS }, (_, n) => `postgres-${n}`);
  const links = await Promise.all([...names, "producer"].map((name) => openTcpLink(server.port, name, log)));
  const through = (port: number) => Object.assign(new URL(url), { port: String(port) }).href;
  const pool = new Pool({ connectionString: url, max: 2 });
  const producerPool = new Pool({ connectionString: through(links.at(-1)!.port), max: 4 });
  for (const each of [pool, producerPool]) each.on("error", () => {});
  const direct = pg(pool);
  await prepare(new Wadi(direct));
  const producer = new Wadi(pg(producerPool), { requestRetry: SUBMIT_RETRY });
  const workers = names.map((name, n) => {
    const address = { target: "pg", url: through(links[n]!.port) } as const;
    return new WorkerProcess(scene, { name, address, leaseMs: LEASE_MS, concurrency: 8, prefetch: 4 });
  });
  const accepted: Accepted[] = [];

  async function control(...statements: string[]): Promise<void> {
    const client = new Client({ connectionString: url, options: "-c default_transaction_read_only=off" });
    client.on("error", () => {});
    await client.connect();
    try {
      for (const sql of statements) await client.query(sql);
    } finally {
      await client.end();
    }
  }

  let failovers = 0;
  async function failOver(): Promise<void> {
    const which = failovers++ % 16;
    if (which === 15) await server.restart("orderly");
    else if (which % 2 === 0) {
      await control("alter system set default_transaction_read_only = on", "select pg_reload_conf()");
      await pause(READ_ONLY_MS, AbortSignal.timeout(READ_ONLY_MS));
      await control("alter system reset default_transaction_read_only", "select pg_reload_conf()");
    } else {
      await control(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where pid <> pg_backend_pid() and backend_type = 'client backend'`,
      );
    }
    log.add("failover", null);
  }

  return {
    name: "postgres",
    leaseMs: LEASE_MS,
    accepted,
    direct,
    async work(signal) {
      const inject = (kind: "dropped" | "delayed" | "lostAnswers" | "halfOpen") =>
        repeat(EVERY_MS, signal, () => pick(links).inject(kind));
      await Promise.all([
        produce(producer, { perSecond, maxAttempts: MAX_ATTEMPTS }, signal, accepted, scene.recovered),
        inject("dropped"),
        inject("delayed"),
        inject("lostAnswers"),
        inject("halfOpen"),
        repeat(HOLD_EVERY_MS, signal, () => pick(links.slice(0, -1)).hold(LEASE_MS + Math.random() * 1200)),
        repeat(FAIL_OVER_EVERY_MS, signal, failOver),
      ]);
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.stop()));
      await Promise.all([producer.close(), new Wadi(direct).close()]);
      await Promise.all([pool.end(), producerPool.end()]);
      await Promise.all(links.map((link) => link.close()));
      await server.stop();
    },
  };
};
