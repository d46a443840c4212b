import { Pool } from "pg";
import type { Executor } from "../../src/core/executor.ts";
import { pg as pgExecutor } from "../../src/drivers/pg.ts";
import { createDatabase } from "../postgres.ts";
import type { Target } from "../target.ts";
import { startTcpProxy } from "../tcp-proxy.ts";

/** node-pg with a pool of five; round trips are counted on the wire. */
export const pg: Target = {
  name: "pg",
  dialect: "postgres",
  async open() {
    const url = new URL(await createDatabase());
    const proxy = await startTcpProxy({ port: Number(url.port), host: url.hostname });
    url.hostname = "127.0.0.1";
    url.port = String(proxy.port);
    const pools: Pool[] = [];
    let statements = 0;

    async function connect(): Promise<Executor> {
      const pool = new Pool({ connectionString: url.href, max: 5 });
      pools.push(pool);
      const executor = pgExecutor(pool);
      return {
        ...executor,
        run(statement) {
          statements++;
          return executor.run(statement);
        },
        batch(list) {
          statements += list.length;
          return executor.batch(list);
        },
      };
    }

    const executor = await connect();
    await pools[0]!.query("select 1"); // what a first connection costs is not the executor's
    const before = proxy.turns;
    return {
      executor,
      connect,
      meter: () => ({ roundTrips: proxy.turns - before, statements, rowsRead: null, rowsWritten: null }),
      async close() {
        await executor.close();
        await Promise.all(pools.map((pool) => pool.end()));
        await proxy.stop();
      },
    };
  },
};
