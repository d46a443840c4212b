// The examples for Drizzle run.

import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { createDatabase } from "../../testing/postgres.ts";

test.each([
  ["sqlite", async () => []],
  ["postgres", async () => [await createDatabase()]],
])("examples/drizzle/%s.ts commits an order with its task, and rolls both back", async (dialect, args) => {
  const program = [`examples/drizzle/${dialect}.ts`, ...(await args())];
  const { status, stdout, stderr } = spawnSync(process.execPath, program, {
    encoding: "utf8",
    timeout: 25_000,
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(JSON.parse(stdout)).toEqual({
    shipped: [{ order: "order-1", status: "succeeded", result: { parcel: "parcel of order-1" } }],
    orders: 1,
    tasks: 1,
  });
});
