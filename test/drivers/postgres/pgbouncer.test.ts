// The driver of node-pg behind PgBouncer.

import { Client, Pool } from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type PgOptions, pg } from "../../../src/drivers/pg.ts";
import { Wadi, Worker } from "../../../src/index.ts";
import { internalsOf } from "../../../src/producer/internals.ts";
import { type Arena, openArena } from "../../../testing/conformance/arena.ts";
import { loadScenarios, OWN_SCENARIOS } from "../../../testing/conformance/scenario.ts";
import { inSchema } from "../../../testing/in-schema.ts";
import { type PgBouncer, program, SERVER_CONNECTIONS, startPgBouncer } from "../../../testing/pgbouncer.ts";
import { createDatabase, postgresUrl } from "../../../testing/postgres.ts";
import { query } from "../../../testing/races/audit.ts";
import { countRunning, runLimited } from "../../../testing/races/limited-jobs.ts";

const scenarios = loadScenarios(OWN_SCENARIOS);
const reason = program === undefined ? " (skipped: the program pgbouncer is not on this machine)" : "";

describe.skipIf(program === undefined)(`behind PgBouncer in transaction mode${reason}`, () => {
  let bouncer: PgBouncer;
  const pools: Pool[] = [];

  beforeAll(async () => {
    bouncer = await startPgBouncer(postgresUrl());
  });

  afterEach(() => Promise.all(pools.splice(0).map((pool) => pool.end())));

  afterAll(() => bouncer?.stop());

  function connect(url: string, options: PgOptions, max = 1): Wadi {
    const pool = new Pool({ connectionString: bouncer.through(url), max });
    pools.push(pool);
    return new Wadi(pg(pool, { listen: false, ...options }));
  }

  it("a listener that would receive nothing is refused, and waits poll", async () => {
    const url = await createDatabase();
    const wadi = connect(url, { listen: true }, 5);
    await expect(
      wadi.executor.listen!(
        ["a"],
        () => {},
        () => {},
      ),
    ).rejects.toThrow("LISTEN was accepted, but no notification arrived");
    const { id } = await wadi.submit("job", 1);
    const unlisten = internalsOf(wadi).notifier.onQueued(() => {});
    const wait = wadi.wait(id);
    await new Worker(connect(url, {})).task("job", () => 42).drain();
    expect((await wait).result).toBe(42);
    expect(wadi.wakeSource).toBe("polling");
    unlisten();
    await wadi.close();
  });

  describe.each<PgOptions>([
    { prepare: true, schema: "jobs" },
    { prepare: false, schema: "jobs" },
  ])("%j", (options) => {
    describe("the scenarios", () => {
      let arena: Arena;
      let pool: Pool;

      beforeAll(async () => {
        pool = new Pool({ connectionString: bouncer.through(await createDatabase()), max: 5 });
        const executor = pg(pool, { listen: false, ...options });
        arena = await openArena({ executor, close: () => pool.end() });
      });

      afterAll(() => arena?.close());

      it.each(scenarios)("$name", (scenario) => arena.run(scenario));
    });

    it("clients that submit the same keys concurrently end with one live task a key", async () => {
      const url = await createDatabase();
      const clients = Array.from({ length: 12 }, () => connect(url, options));
      const keys = Array.from({ length: 40 }, (_, i) => `k${i}`);
      for (const conflict of ["reuse", "replace"] as const) {
        await Promise.all(
          clients.map(async (wadi) => {
            for (const key of keys) await wadi.submit("job", key, { key, conflict });
          }),
        );
        const live = await clients[0]!.list({ status: "queued", limit: 1000 });
        expect(live.map(({ payload }) => payload).sort()).toEqual([...keys].sort());
      }
      expect(await connectionsTo(url)).toBeLessThanOrEqual(SERVER_CONNECTIONS);
    });

    it("clients that claim concurrently keep to the limit of a key", async () => {
      const url = await createDatabase();
      const clients = Array.from({ length: 12 }, () => connect(url, options));
      await countRunning(clients[0]!, ["k"], (sql) => inSchema(sql, options.schema));
      const entry = { payload: 1, limits: { key: "k", concurrency: 3 } };
      await clients[0]!.submitMany("job", Array<typeof entry>(60).fill(entry));
      const lanes = [{ queue: "default", name: "job" }];
      const run = { claimers: 1, lanes, limit: 2, startAtMs: 0 };
      const runs = await Promise.all(
        clients.map((wadi, n) => runLimited(wadi, { ...run, racer: `client-${n}` })),
      );
      expect(new Set(runs.flat()).size).toBe(60);
      const [counter] = await query(clients[0]!, "select peak from counters");
      expect(Number(counter!.peak)).toBe(3);
    });

    it("two concurrent drains lose nothing of a bulk submit, and run nothing twice", async () => {
      const url = await createDatabase();
      const count = 3000;
      const payloads = Array.from({ length: count }, (_, payload) => ({ payload }));
      await connect(url, options, 4).submitMany("job", payloads);
      const runs: unknown[] = [];
      const drains = await Promise.all(
        [1, 2].map(() => {
          const worker = new Worker(connect(url, options, 4), { concurrency: 50 });
          worker.task("job", ({ payload }) => void runs.push(payload));
          return worker.drain({ budgetMs: 25_000 });
        }),
      );
      expect(runs.length).toBe(count);
      expect(new Set(runs).size).toBe(count);
      expect(drains[0]!.succeeded + drains[1]!.succeeded).toBe(count);
      expect((await connect(url, options).stats()).default).toMatchObject({
        queued: 0,
        running: 0,
        succeeded: count,
      });
    });
  });
});

/** Connections the server itself has to a database. */
async function connectionsTo(url: string): Promise<number> {
  const client = new Client(postgresUrl());
  await client.connect();
  const { rows } = await client.query(
    "select count(*)::integer as n from pg_stat_activity where datname = $1",
    [new URL(url).pathname.slice(1)],
  );
  await client.end();
  return rows[0].n;
}
