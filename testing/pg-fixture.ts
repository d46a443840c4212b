// A Postgres database behind a TCP proxy, for tests in which connections break, stall or fall silent.

import { Client, type ClientConfig, Pool, type PoolConfig } from "pg";
import { afterAll, afterEach, beforeAll } from "vitest";
import type { Executor, Statement, Value } from "../src/core/executor.ts";
import { createDatabase } from "./postgres.ts";
import { startTcpProxy, type TcpProxy } from "./tcp-proxy.ts";
import { until } from "./until.ts";

export const sql = (text: string, ...params: Value[]): Statement => ({ sql: text, params });

export interface PgFixture {
  /** The database through the proxy, and the database itself. */
  url: string;
  directUrl: string;
  proxy: TcpProxy;
  /** A connection that bypasses the proxy. */
  admin: Client;
  pool(config?: PoolConfig): Pool;
  client(config?: ClientConfig): Promise<Client>;
  /** Waits until `text` is running, and ends its connection. */
  killWhileRunning(text: string): Promise<void>;
}

/** A database for a file; pools and clients of a test end with it. */
export function pgFixture(schema: string): PgFixture {
  const fixture = {} as PgFixture;
  const open: { end(): Promise<void> }[] = [];

  beforeAll(async () => {
    fixture.directUrl = await createDatabase();
    const url = new URL(fixture.directUrl);
    fixture.proxy = await startTcpProxy({ port: Number(url.port), host: url.hostname });
    url.port = String(fixture.proxy.port);
    fixture.url = url.href;
    fixture.admin = new Client(fixture.directUrl);
    await fixture.admin.connect();
    await fixture.admin.query(schema);
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((each) => each.end().catch(() => {})));
  });
  afterAll(async () => {
    await fixture.admin.end();
    await fixture.proxy.stop();
  });

  fixture.pool = (config = {}) => {
    const pool = new Pool({ connectionString: fixture.url, ...config });
    open.push(pool);
    return pool;
  };
  fixture.client = async (config = {}) => {
    const client = new Client({ connectionString: fixture.url, ...config });
    open.push(client);
    await client.connect();
    return client;
  };
  fixture.killWhileRunning = async (text) => {
    const running =
      "datname = current_database() and state = 'active' and query = $1 and pid <> pg_backend_pid()";
    await until(async () => {
      const kill = `select pg_terminate_backend(pid) from pg_stat_activity where ${running}`;
      return (await fixture.admin.query(kill, [text])).rowCount !== 0;
    });
  };
  return fixture;
}

/** The error that `work` fails with. */
export async function failure(work: Promise<unknown>): Promise<{ code?: string; message: string }> {
  const [result] = await Promise.allSettled([work]);
  if (result.status === "rejected") return result.reason;
  throw new Error(`expected a failure, got ${JSON.stringify(result.value)}`);
}

/** The class that the executor gives to the failure of `work`. */
export async function failureClass(executor: Executor, work: Promise<unknown>): Promise<string> {
  return executor.classify(await failure(work));
}
