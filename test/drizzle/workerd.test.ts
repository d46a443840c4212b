// Drizzle on D1 and in a Durable Object, in workerd.

import { join } from "node:path";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeAll, expect, it } from "vitest";

let miniflare: Miniflare;
let code: string;
let url: URL;

beforeAll(async () => {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "workerd-worker.ts")],
    bundle: true,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    write: false,
  });
  code = outputFiles[0]!.text;
  miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: code,
      compatibilityDate: "2026-08-01",
      d1Databases: ["DB"],
      durableObjects: { Shop: { className: "Shop", useSQLite: true } },
      cf: false,
    }),
  );
  url = await miniflare.ready;
}, 60_000);
afterAll(() => miniflare.dispose());

async function get(path: string): Promise<unknown> {
  const response = await fetch(new URL(path, url));
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return JSON.parse(text);
}

const done = { payload: { n: 4 }, result: { n: 8 } };

it("runs on D1 in workerd, with Wadi's statements in Drizzle's batch and in the binding's", async () => {
  expect(await get("/d1")).toEqual({
    name: "d1",
    outcomes: ["created", "created"],
    succeeded: 2,
    results: [
      { order: "one", ...done },
      { order: "two", ...done },
    ],
  });
});

it("runs in a Durable Object in workerd, within the transactions of Drizzle", async () => {
  expect(await get("/shop")).toEqual({
    name: "durable-object",
    error: "Error: no",
    orders: 2, // and one by the handler
    succeeded: 1,
    results: [{ order: "kept", ...done }],
  });
});

it("brings no SQL of Postgres and nothing of Node into the bundle", () => {
  expect(code).toContain("cairnq_tasks");
  for (const foreign of [/"node:/, /skip locked/, /\brequire\s*\(/, /pg_notify/]) {
    expect(code).not.toMatch(foreign);
  }
});
