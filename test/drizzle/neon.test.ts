// Drizzle over Neon: parsers of types, and the schema of the tables.

import { neon, types } from "@neondatabase/serverless";
import { drizzle } from "drizzle-orm/neon-http";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { fromDrizzle, schema } from "../../src/drizzle/postgres.ts";
import { Wadi, Worker } from "../../src/index.ts";
import { type NeonEndpoint, startNeonEndpoint } from "../../testing/neon-endpoint.ts";
import { createDatabase } from "../../testing/postgres.ts";

const TIMESTAMPTZ = 1184;
/** int8, float8, text and jsonb: what the columns of a task have. */
const OF_TASKS = [20, 701, 25, 3802];

let endpoint: NeonEndpoint;
const before = [TIMESTAMPTZ, ...OF_TASKS].map((type) => [type, types.getTypeParser(type)] as const);

beforeAll(async () => {
  endpoint = await startNeonEndpoint({ postgresUrl: await createDatabase() });
});
afterAll(() => endpoint.stop());
afterEach(() => {
  for (const [type, parser] of before) types.setTypeParser(type, parser);
});

it("is not disturbed by the parsers that Drizzle sets for everyone, nor by any others", async () => {
  const db = drizzle(neon(endpoint.connectionString));
  expect(types.getTypeParser(TIMESTAMPTZ)("2026-08-01")).toBe("2026-08-01"); // it did set them
  for (const type of OF_TASKS) types.setTypeParser(type, () => "spoilt");
  const wadi = new Wadi(fromDrizzle(db));
  const { id } = await wadi.submit("echo", { a: ["x"] });
  await new Worker(wadi).task("echo", ({ payload }) => payload as object).drain();
  const task = await wadi.get(id);
  expect(task).toMatchObject({ name: "echo", attempt: 1, payload: { a: ["x"] }, result: { a: ["x"] } });
  expect(task!.createdAtMs).toBeGreaterThan(1_600_000_000_000);
});

it("leaves the parsers as they are", async () => {
  drizzle(neon(endpoint.connectionString));
  const own = OF_TASKS.map((type) => types.getTypeParser(type));
  await new Wadi(fromDrizzle(drizzle(neon(endpoint.connectionString)))).stats();
  expect(OF_TASKS.map((type) => types.getTypeParser(type))).toEqual(own);
});

it("passes the schema on, where the tables of `schema` are", async () => {
  const db = drizzle(neon(endpoint.connectionString));
  const wadi = new Wadi(fromDrizzle(db, { schema: "jobs" }));
  await wadi.migrate({ secondInstallation: true });
  await wadi.submit("mail", { to: "x" });
  const { tasks } = schema("jobs");
  expect(await db.select({ name: tasks.name, payload: tasks.payload }).from(tasks)).toEqual([
    { name: "mail", payload: { to: "x" } },
  ]);
});
