// A pool that follows a failover of its server.

import { Client, Pool } from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { pg } from "../../../src/drivers/pg.ts";
import { Wadi, Worker } from "../../../src/index.ts";
import { type PostgresServer, startPostgres } from "../../../testing/postgres.ts";
import { startTcpProxy, type TcpProxy } from "../../../testing/tcp-proxy.ts";
import { until } from "../../../testing/until.ts";

let primary: PostgresServer;
let standby: Pick<PostgresServer, "url" | "port" | "stop">;
let proxy: TcpProxy;

beforeAll(async () => {
  primary = await startPostgres();
  standby = await primary.standby();
  proxy = await startTcpProxy({ port: primary.port });
}, 120_000);
afterAll(async () => {
  await proxy?.stop();
  await standby?.stop();
  await primary?.stop();
});

async function admin(url: string, sql: string): Promise<void> {
  const client = new Client(url);
  await client.connect();
  await client.query(sql);
  await client.end();
}

it("a pool follows a failover: no call fails, no finished work is lost, no task runs twice", async () => {
  const pool = new Pool({
    connectionString: primary.url.replace(`:${primary.port}`, `:${proxy.port}`),
    max: 6,
  });
  const wadi = new Wadi(pg(pool), { requestRetry: { tries: 1000, capMs: 100 } });
  const runs = new Map<unknown, number>();
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const worker = new Worker(wadi, { leaseMs: 60_000, concurrency: 10 }).task("a", async ({ payload }) => {
    runs.set(payload, (runs.get(payload) ?? 0) + 1);
    if (payload === "slow") await ended;
    return payload;
  });
  const idle = await Promise.all(Array.from({ length: 5 }, () => pool.connect()));
  for (const client of idle) client.release(); // five connections to the old primary, and each would be met
  const slow = await wadi.submit("a", "slow");
  const running = worker.run();
  await until(() => runs.has("slow"));

  await admin(primary.url, "alter system set default_transaction_read_only = on");
  await admin(primary.url, "select pg_reload_conf()");
  await until(
    async () =>
      (await pool.query("show default_transaction_read_only")).rows[0].default_transaction_read_only === "on",
  );
  const during = wadi.submit("a", "during");
  end(); // the result of the slow one meets a primary that has become read-only
  proxy.target = standby.port; // and new connections a standby
  await until(async () => {
    const client = new Client(standby.url);
    await client.connect();
    const { rows } = await client.query("select count(*)::int as n from cairnq_tasks");
    await client.end();
    return rows[0].n === 1;
  });
  await admin(standby.url, "select pg_promote()");

  const { id } = await during;
  for (const task of [slow.id, id])
    expect((await wadi.wait(task, { timeoutMs: 60_000 })).status).toBe("succeeded");
  await worker.stop();
  await running;
  expect([...runs]).toEqual([
    ["slow", 1],
    ["during", 1],
  ]);
  const { rows } = await pool.query(
    "select host(inet_server_addr()), inet_server_port() as port, pg_is_in_recovery() as standby",
  );
  expect(rows[0]).toMatchObject({ port: standby.port, standby: false });
  await wadi.close();
  await pool.end();
}, 90_000);
