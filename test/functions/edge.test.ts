// Bundles of Wadi run in an edge runtime without Node.

import { EdgeVM } from "@edge-runtime/vm";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";
import { startNeonEndpoint } from "../../testing/neon-endpoint.ts";
import { createDatabase } from "../../testing/postgres.ts";

/** One file with everything in it, as an edge runtime gets it. */
async function bundle(source: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: import.meta.dirname, loader: "ts" },
    bundle: true,
    format: "iife",
    platform: "neutral",
    mainFields: ["browser", "module", "main"],
    conditions: ["browser"],
    minifyWhitespace: true, // without comments, which may name what the code must not use
    write: false,
  });
  return outputFiles[0]!.text;
}

const CORE = 'import { Wadi, Worker } from "../../src/index.ts";\n';
const HTTP = `${CORE}import { createHandler } from "../../src/http/index.ts";\n`;
const NEON = `${HTTP}import { neon, neonConfig } from "@neondatabase/serverless";
import { neonHttp } from "../../src/drivers/neon.ts";
neonConfig.fetchEndpoint = (host, port) => "http://" + host + ":" + port + "/sql";
globalThis.start = (connectionString, secret) => {
  const wadi = new Wadi(neonHttp(neon(connectionString)));
  const worker = new Worker(wadi).task("double", ({ payload }) => payload * 2);
  return createHandler({ wadi, worker, secret });
};`;
const D1 = `${HTTP}import { d1 } from "../../src/drivers/d1.ts";
globalThis.start = (binding, secret) => createHandler({ wadi: new Wadi(d1(binding)), secret });`;
const CLOUDFLARE = 'import worker from "../../functions/cloudflare/worker.ts";\nglobalThis.worker = worker;';

/** What the global functions of a bundle look like from outside. */
interface Context {
  start(database: unknown, secret: string): (request: Request) => Promise<Response>;
  Request: typeof Request;
}

function load(code: string): Context {
  const vm = new EdgeVM();
  vm.evaluate(code);
  return vm.context as unknown as Context;
}

describe("a bundle in the bare edge VM", () => {
  it("of core, http and neon answers, runs tasks and gives their results", async () => {
    const endpoint = await startNeonEndpoint({ postgresUrl: await createDatabase() });
    const { start, Request } = load(await bundle(NEON));
    const handler = start(endpoint.connectionString, "secret");
    const call = async (method: string, path: string, token: string, body: unknown = null) => {
      const headers = { authorization: `Bearer ${token}` };
      const init = { method, headers, body: body === null ? null : JSON.stringify(body) };
      const response = await handler(new Request(`https://wadi.test${path}`, init));
      return { status: response.status, body: await response.json() };
    };
    try {
      const refused = await call("GET", "/keys/k", "wrong");
      expect(refused).toMatchObject({ status: 401, body: { error: { code: "UNAUTHORIZED" } } });
      expect(endpoint.requests).toBe(0);
      const submitted = await call("POST", "/tasks", "secret", { name: "double", payload: 21, key: "k" });
      expect(submitted).toMatchObject({ status: 201, body: { status: "queued" } });
      const waiting = call("GET", "/keys/k/wait", "secret");
      expect(await call("POST", "/drain", "secret")).toMatchObject({ status: 200, body: { succeeded: 1 } });
      expect(await waiting).toMatchObject({ status: 200, body: { result: 42 } });
      expect((await call("POST", "/tasks", "secret", "text")).status).toBe(400);
    } finally {
      await endpoint.stop();
    }
  });

  it("of core, http and d1 loads and answers", async () => {
    const { start, Request } = load(await bundle(D1));
    const binding = {
      prepare: () => ({ bind: () => ({}) }),
      batch: async () => [{ results: [] }, { results: [] }],
    };
    const handler = start(binding, "secret");
    const headers = { authorization: "Bearer secret" };
    expect((await handler(new Request("https://wadi.test/tasks/none"))).status).toBe(401);
    expect((await handler(new Request("https://wadi.test/tasks/none", { headers }))).status).toBe(404);
  });
});

it.each([
  ["core", `${CORE}globalThis.wadi = [Wadi, Worker];`],
  ["core, http and d1", D1],
  ["the Cloudflare worker", CLOUDFLARE],
])("the bundle of %s uses nothing of Node and evaluates no text", async (_what, source) => {
  const code = await bundle(source);
  for (const foreign of [
    /\bnode:/,
    /\bprocess\s*[.[]/,
    /\bBuffer\b/,
    /\beval\s*\(/,
    /\bnew Function\b/,
    /\brequire\s*\(/,
  ]) {
    expect(code).not.toMatch(foreign);
  }
});

it("the bundle of the Neon client evaluates no text either", async () => {
  const code = await bundle(NEON);
  for (const foreign of [/["']node:/, /\beval\s*\(/, /\bnew Function\b/]) expect(code).not.toMatch(foreign);
});
