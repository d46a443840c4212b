// Two workers of one process with the same tasks.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import Database from "better-sqlite3";
import { build } from "esbuild";
import pgClient from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type * as Drivers from "../../../src/drivers/better-sqlite3.ts";
import type * as Postgres from "../../../src/drivers/pg.ts";
import type * as Index from "../../../src/index.ts";
import { Worker, type WorkerOptions } from "../../../src/index.ts";
import { memoryWadi } from "../../../testing/memory.ts";
import { createDatabase } from "../../../testing/postgres.ts";
import { until } from "../../../testing/until.ts";

const POLLS: WorkerOptions = { pollMs: 5, maxPollMs: 10 };
const REFUSAL = {
  code: "INVALID_ARGUMENT",
  message: expect.stringMatching(
    new RegExp(
      'a worker of this process already runs "a" of the queue "default" .*stop that one first, ' +
        "or give both names",
    ),
  ),
};

describe("of two workers of one process that run the same tasks", () => {
  test("the second is refused, and runs once the first has stopped", async () => {
    const wadi = memoryWadi();
    const [first, second] = [1, 2].map((n) => new Worker(wadi, POLLS).task("a", () => n));
    const running = first!.run();
    for (const how of ["run", "serve"] as const) await expect(second![how]()).rejects.toMatchObject(REFUSAL);
    await expect(second!.background(() => 1)).rejects.toMatchObject(REFUSAL);
    expect(second!.stats().state).toBe("stopped");
    expect(await wadi.call("a", null)).toBe(1);
    expect(await second!.drain()).toMatchObject({ claimed: 0 }); // an invocation collides with no worker
    await first!.stop();
    await running;
    await second!.background(async () => expect(await wadi.call("a", null)).toBe(2));
  });

  test("the new one takes the place of the old one if they have the same name", async () => {
    const wadi = memoryWadi();
    const [old, young] = [1, 2].map((n) => new Worker(wadi, { ...POLLS, name: "mail" }).task("a", () => n));
    const stopped = old!.run();
    expect(await wadi.call("a", null)).toBe(1);
    const running = young!.run();
    expect(await stopped).toMatchObject({ succeeded: 1 });
    expect(old!.stats().state).toBe("stopped");
    expect(await wadi.call("a", null)).toBe(2);
    await young!.stop();
    await running;
  });

  test("both run if their names differ", async () => {
    const wadi = memoryWadi();
    const workers = ["one", "two"].map((name) => new Worker(wadi, { ...POLLS, name }).task("a", () => name));
    const running = workers.map((worker) => worker.run());
    await until(() => workers.every((worker) => worker.stats().state === "running"));
    await Promise.all(workers.map((worker) => worker.stop()));
    await Promise.all(running);
  });
});

test("workers of other tasks, queues or databases do not collide, nor does one that could not start", async () => {
  const wadi = memoryWadi();
  const workers = [
    new Worker(wadi, POLLS).task("a", () => 1),
    new Worker(wadi, POLLS).task("b", () => 1),
    new Worker(wadi, { ...POLLS, queue: "other" }).task("a", () => 1),
    new Worker(memoryWadi(), POLLS).task("a", () => 1),
  ];
  await expect(new Worker(wadi).run()).rejects.toThrow(/needs a handler/);
  const running = workers.map((worker) => worker.run());
  await until(() => workers.every((worker) => worker.stats().state === "running"));
  await expect(workers[0]!.run()).rejects.toThrow("this worker is already running; stop it first");
  await Promise.all(workers.map((worker) => worker.stop()));
  await Promise.all(running);
});

type Copy = typeof Index & typeof Drivers & typeof Postgres;

describe("workers of a module that is loaded twice", () => {
  const directory = mkdtempSync(join(tmpdir(), "wadi-workers-"));
  let copies: Copy[];

  beforeAll(async () => {
    const outfiles = ["first", "second"].map((name) => join(directory, `${name}.mjs`));
    const contents = ["index", "drivers/better-sqlite3", "drivers/pg"]
      .map((name) => `export * from "./src/${name}.ts";`)
      .join("\n");
    for (const outfile of outfiles) {
      const stdin = { contents, resolveDir: process.cwd() };
      await build({ stdin, bundle: true, format: "esm", platform: "node", outfile });
    }
    copies = await Promise.all(
      outfiles.map((file) => import(/* @vite-ignore */ pathToFileURL(file).href) as Promise<Copy>),
    );
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  const databases: Record<string, () => Promise<(copy: Copy) => Index.Wadi>> = {
    async "one SQLite file"() {
      const file = join(directory, `${crypto.randomUUID()}.db`);
      return ({ Wadi, betterSqlite3 }) => new Wadi(betterSqlite3(new Database(file)));
    },
    async "one Postgres database"() {
      const connectionString = await createDatabase();
      return ({ Wadi, pg }) => new Wadi(pg(new pgClient.Pool({ connectionString, max: 4 })));
    },
  };

  test.each(Object.keys(databases))("know each other's, on %s", async (name) => {
    const connect = await databases[name]!();
    const [wadi, reloaded] = copies.map(connect);
    const [First, Second] = copies.map((copy) => copy.Worker);
    const unnamed = new First!(wadi!, POLLS).task("a", () => 1);
    const running = unnamed.run();
    await until(() => unnamed.stats().state === "running");
    await expect(new Second!(reloaded!, POLLS).task("a", () => 2).run()).rejects.toMatchObject(REFUSAL);
    await unnamed.stop();
    await running;

    const old = new First!(wadi!, { ...POLLS, name: "app" }).task("a", () => "old");
    const stopped = old.run();
    expect(await wadi!.call("a", null)).toBe("old");
    const young = new Second!(reloaded!, { ...POLLS, name: "app" }).task("a", () => "young");
    const goesOn = young.run();
    await stopped;
    expect(await reloaded!.call("a", null)).toBe("young");
    await young.stop();
    await goesOn;
  });
});
