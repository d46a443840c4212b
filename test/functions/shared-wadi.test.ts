// Requests of one worker share a Wadi, though a request's polls end with it.

import { setTimeout as pause } from "node:timers/promises";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeAll, expect, test } from "vitest";

/** A worker with one client for all its requests, as a module that imports its bindings has it. */
const WORKER = `
import { Wadi } from "./src/index.ts";
import { d1 } from "./src/drivers/d1.ts";
let wadi;
export default {
  async fetch(request, env) {
    wadi ??= new Wadi(d1(env.DB));
    const { pathname, searchParams } = new URL(request.url);
    const key = searchParams.get("key");
    const timeoutMs = Number(searchParams.get("timeoutMs"));
    try {
      if (pathname === "/submit") return Response.json((await wadi.submit("a", 1, { key })).id);
      if (pathname === "/cancel") return Response.json((await wadi.cancelByKey(key)).status);
      return Response.json((await wadi.waitByKey(key, { timeoutMs })).status);
    } catch (error) {
      return Response.json(error.code ?? String(error));
    }
  },
};`;

let miniflare: Miniflare;
let url: URL;

beforeAll(async () => {
  const { outputFiles } = await build({
    stdin: { contents: WORKER, resolveDir: process.cwd(), loader: "ts" },
    bundle: true,
    format: "esm",
    platform: "neutral",
    write: false,
  });
  miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: outputFiles[0]!.text,
      compatibilityDate: "2026-01-01",
      d1Databases: ["DB"],
      cf: false,
    }),
  );
  url = await miniflare.ready;
});
afterAll(() => miniflare?.dispose());

const ask = async (path: string) => (await fetch(new URL(path, url))).json() as Promise<string>;
test("a wait goes on although the request whose wait began the shared polls has ended", async () => {
  await Promise.all(["/submit?key=a", "/submit?key=b", "/submit?key=c"].map(ask));
  const short = ask("/wait?key=a&timeoutMs=700");
  await pause(50);
  const waits = [ask("/wait?key=b&timeoutMs=20000"), ask("/wait?key=c&timeoutMs=20000")];
  expect(await short).toBe("TASK_TIMEOUT");
  await pause(300);
  expect(await ask("/cancel?key=b")).toBe("canceled");
  expect(await waits[0]).toBe("canceled");
  await pause(300);
  expect(await ask("/cancel?key=c")).toBe("canceled");
  expect(await waits[1]).toBe("canceled");
});

test("a wait goes on although a request that is polling for it is cut off", async () => {
  await Promise.all(["/submit?key=d", "/submit?key=e"].map(ask));
  const stop = new AbortController();
  const cut = fetch(new URL("/wait?key=d&timeoutMs=20000", url), { signal: stop.signal }).catch(() => "cut");
  await pause(50);
  const wait = ask("/wait?key=e&timeoutMs=20000");
  await pause(400);
  stop.abort();
  expect(await cut).toBe("cut");
  await pause(300);
  expect(await ask("/cancel?key=e")).toBe("canceled");
  expect(await wait).toBe("canceled");
});
