// Two copies of the module in one process share notifications.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import Database from "better-sqlite3";
import { build } from "esbuild";
import pgClient from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Executor } from "../../../src/driver.ts";
import type * as Drivers from "../../../src/drivers/better-sqlite3.ts";
import type * as Postgres from "../../../src/drivers/pg.ts";
import type * as Index from "../../../src/index.ts";
import { Wadi as OwnWadi } from "../../../src/index.ts";
import { internalsOf } from "../../../src/producer/internals.ts";
import { memoryWadi } from "../../../testing/memory.ts";
import { createDatabase } from "../../../testing/postgres.ts";
import { UNTIL_NOTIFIED } from "../../../testing/until-notified.ts";

type Copy = typeof Index & typeof Drivers & typeof Postgres;

const directory = mkdtempSync(join(tmpdir(), "wadi-copies-"));
let first: Copy;
let second: Copy;

/** The module as one of a bundler's bundles has it. */
async function load(name: string): Promise<Copy> {
  const outfile = join(directory, `${name}.mjs`);
  await build({
    stdin: {
      contents: ["index", "drivers/better-sqlite3", "drivers/pg"]
        .map((file) => `export * from "./src/${file}.ts";`)
        .join("\n"),
      resolveDir: process.cwd(),
    },
    bundle: true,
    format: "esm",
    platform: "node",
    outfile,
  });
  return (await import(/* @vite-ignore */ pathToFileURL(outfile).href)) as Copy;
}

beforeAll(async () => {
  [first, second] = await Promise.all([load("first"), load("second")]);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** An executor without notifications of its database. */
const deaf = ({ listen: _, ...executor }: Executor): Executor => executor;

interface Pair {
  readonly mine: Index.Wadi;
  readonly theirs: Index.Wadi;
  close(): Promise<void>;
}

const pairs: Record<string, () => Promise<Pair>> = {
  async "one SQLite file"() {
    const file = join(directory, `${crypto.randomUUID()}.db`);
    const handles = [new Database(file), new Database(file)];
    return {
      mine: new first.Wadi(deaf(first.betterSqlite3(handles[0]!))),
      theirs: new second.Wadi(deaf(second.betterSqlite3(handles[1]!))),
      close: async () => {
        for (const handle of handles) handle.close();
      },
    };
  },
  async "one Postgres database, by pools that write its address differently"() {
    const connectionString = await createDatabase();
    const { hostname: host, port, username: user, password, pathname } = new URL(connectionString);
    const database = pathname.slice(1);
    const pools = [
      new pgClient.Pool({ connectionString }),
      new pgClient.Pool({ host, port: Number(port), user, password, database }),
    ];
    return {
      mine: new first.Wadi(first.pg(pools[0]!, { listen: false })),
      theirs: new second.Wadi(second.pg(pools[1]!, { listen: false })),
      close: async () => {
        await Promise.all(pools.map((pool) => pool.end()));
      },
    };
  },
  async "one client object"() {
    const db = new Database(":memory:");
    return {
      mine: new first.Wadi(first.betterSqlite3(db)),
      theirs: new second.Wadi(second.betterSqlite3(db)),
      close: async () => void db.close(),
    };
  },
  async "a name that the application gave"() {
    const file = join(directory, `${crypto.randomUUID()}.db`);
    const handles = [new Database(file), new Database(file)];
    const unknown = ({ database: _, ...executor }: Executor): Executor => deaf(executor);
    return {
      mine: new first.Wadi(unknown(first.betterSqlite3(handles[0]!)), { database: "main" }),
      theirs: new second.Wadi(unknown(second.betterSqlite3(handles[1]!)), { database: "main" }),
      close: async () => {
        for (const handle of handles) handle.close();
      },
    };
  },
};

describe.each(Object.keys(pairs))("two copies of the module share wake-ups by %s", (name) => {
  test("a submit wakes the worker, and the end of its task the wait", async () => {
    const { mine, theirs, close } = await pairs[name]!();
    try {
      await mine.migrate();
      const worker = new second.Worker(theirs, { pollMs: 600_000, maxPollMs: 600_000 });
      const running = worker.task("a", ({ payload }) => payload).run();
      await new Promise((resolve) => setTimeout(resolve, 300)); // its first poll found nothing
      expect(await mine.call("a", 7, UNTIL_NOTIFIED)).toBe(7);
      const { id } = await mine.submit("later", null, { delayMs: 600_000, key: "k" });
      const wait = mine.wait(id, UNTIL_NOTIFIED);
      const byKey = mine.waitByKey("k", UNTIL_NOTIFIED);
      await new Promise((resolve) => setTimeout(resolve, 50));
      await theirs.cancel(id);
      expect([(await wait).status, (await byKey).status]).toEqual(["canceled", "canceled"]);
      await worker.stop();
      await running;
    } finally {
      await close();
    }
  }, 20_000);
});

test("a worker of one copy works for a Wadi of the other", async () => {
  const wadi = new first.Wadi(first.betterSqlite3(new Database(":memory:")));
  const { id } = await wadi.submit("a", 7);
  const worker = new second.Worker(wadi).task("a", async ({ payload, submit }) => {
    await submit("b", payload);
    return payload;
  });
  expect(await worker.drain()).toMatchObject({ succeeded: 1 });
  expect(await wadi.get(id)).toMatchObject({ status: "succeeded", result: 7 });
  expect(await wadi.list({ name: "b" })).toMatchObject([{ parentId: id }]);
});

test("other databases are not notified, and nothing is kept once no wait is left", async () => {
  const wadi = new OwnWadi(memoryWadi().executor, { database: "mine" });
  const other = new OwnWadi(memoryWadi().executor, { database: "other" });
  let ends = 0;
  const release = internalsOf(wadi).notifier.subscribe("task_1", () => ends++);
  internalsOf(other).notifier.done(["task_1"]);
  expect(ends).toBe(0);
  internalsOf(new OwnWadi(memoryWadi().executor, { database: "mine" })).notifier.done(["task_1"]);
  expect(ends).toBe(1);
  const board = Object.getOwnPropertySymbols(globalThis).find(({ description }) =>
    description?.startsWith("wadi.receivers."),
  )!;
  const { texts } = (globalThis as never as Record<symbol, { texts: Map<string, unknown> }>)[board]!;
  expect([texts.has("mine"), texts.has("other")]).toEqual([true, false]);
  release();
  expect(texts.has("mine")).toBe(false);
});

test("the name of a database is checked", () => {
  expect(() => new OwnWadi(memoryWadi().executor, { database: "" })).toThrow(
    "database must be a non-empty string",
  );
});
