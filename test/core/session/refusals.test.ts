// Values that one database cannot take are refused before they are written.

import { createClient } from "@libsql/client";
import { neon } from "@neondatabase/serverless";
import pg from "pg";
import { describe, expect, test } from "vitest";
import type { Executor } from "../../../src/driver.ts";
import { libsql } from "../../../src/drivers/libsql.ts";
import { neonHttp } from "../../../src/drivers/neon.ts";
import { pg as pgExecutor } from "../../../src/drivers/pg.ts";
import { Wadi } from "../../../src/index.ts";
import { routeNeonDriver } from "../../../testing/neon-endpoint.ts";
import { createDatabase } from "../../../testing/postgres.ts";
import type { OpenTarget, TargetName } from "../../../testing/target.ts";
import { pickTargets } from "../../../testing/targets.ts";
import { startTcpProxy } from "../../../testing/tcp-proxy.ts";

async function opened(
  name: TargetName,
  work: (wadi: Wadi, target: OpenTarget) => Promise<void>,
): Promise<void> {
  const target = await pickTargets([name])[0]!.open();
  try {
    await work(new Wadi(target.executor), target);
  } finally {
    await target.close();
  }
}

describe.each(["d1", "libsql-http", "neon-http"] as const)("a payload that %s cannot take", (name) => {
  test("is refused with its size, and nothing is written", () =>
    opened(name, async (wadi) => {
      await wadi.submit("other", null);
      const payload = "x".repeat(Math.max(3_000_000, wadi.executor.limits.maxParamBytes));
      for (const refused of [
        () => wadi.submit("big", payload),
        () => wadi.submit("big", payload, { key: "k" }),
        () => wadi.submitMany("big", [{ payload: 1 }, { payload }]),
      ]) {
        await expect(refused()).rejects.toMatchObject({
          name: "InvalidArgument",
          message: expect.stringMatching(
            /^(?:entry 1 of submitMany: )?the payload of big is \d+ bytes of JSON, \S+ takes at most \d+; store it/,
          ),
        });
      }
      expect((await wadi.list()).map((task) => task.name)).toEqual(["other"]);
    }));
});

describe.each(["pg", "neon-http"] as const)("NUL characters on %s", (name) => {
  test("are refused wherever they would reach a row, and nothing is written", () =>
    opened(name, async (wadi) => {
      const serialization = { name: "SerializationError", code: "SERIALIZATION_ERROR" };
      const argument = { name: "InvalidArgument", code: "INVALID_ARGUMENT" };
      await expect(wadi.submit("a", { text: "a\0b" })).rejects.toMatchObject(serialization);
      await expect(wadi.submit("a", 1, { metadata: { "k\0": 1 } })).rejects.toMatchObject(serialization);
      await expect(wadi.submit("a\0", 1)).rejects.toMatchObject(argument);
      await expect(wadi.submit("a", 1, { key: "k\0" })).rejects.toMatchObject(argument);
      await expect(wadi.submit("a", 1, { queue: "q\0" })).rejects.toMatchObject(argument);
      await expect(wadi.submit("a", 1, { correlationId: "c\0" })).rejects.toMatchObject(argument);
      expect(await wadi.list()).toEqual([]);
    }));
});

describe("a database out of reach", () => {
  routeNeonDriver();
  const executors: [name: string, open: (port: number) => Executor][] = [
    [
      "pg",
      (port) => pgExecutor(new pg.Pool({ connectionString: `postgres://user:hunter2@127.0.0.1:${port}/db` })),
    ],
    ["neon-http", (port) => neonHttp(neon(`postgres://user:hunter2@127.0.0.1:${port}/db`))],
    ["libsql", (port) => libsql(createClient({ url: `http://127.0.0.1:${port}`, authToken: "hunter2" }))],
  ];

  /** A port on which no server listens any more. */
  async function closedPort(): Promise<number> {
    const proxy = await startTcpProxy({ port: 1 });
    await proxy.stop();
    return proxy.port;
  }

  test.each(executors)(
    "%s: the error is retryable, says what to do, and gives nothing away",
    async (name, open) => {
      const wadi = new Wadi(open(await closedPort()), { requestRetry: { tries: 2, baseMs: 1, capMs: 1 } });
      const error = await wadi.submit("a", "s3cret").catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({
        name: "DriverError",
        retryable: true,
        message:
          `submit failed on ${name}: the database could not be reached or takes no writes now; ` +
          "check that it runs and that the client points at its primary",
      });
      await wadi.close();
    },
  );
});

test("a cold process submits with the connection's own round trips and one more", async () => {
  const database = new URL(await createDatabase());
  const pool = new pg.Pool({ connectionString: database.href });
  await new Wadi(pgExecutor(pool, { listen: false })).migrate();
  await pool.end();

  /** Round trips of one connection, from its first byte until `work` is done. */
  async function turnsOf(work: (cold: pg.Pool) => Promise<unknown>): Promise<number> {
    const proxy = await startTcpProxy({ port: Number(database.port) });
    const cold = new pg.Pool({
      connectionString: Object.assign(new URL(database), { port: proxy.port }).href,
    });
    try {
      await work(cold);
      return proxy.turns;
    } finally {
      await cold.end();
      await proxy.stop();
    }
  }

  const connecting = await turnsOf((cold) => cold.connect().then((client) => client.release()));
  const submitting = await turnsOf((cold) =>
    new Wadi(pgExecutor(cold, { listen: false })).submit("a", 1, { key: "k" }),
  );
  expect(submitting).toBe(connecting + 1);
});
