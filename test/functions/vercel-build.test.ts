// The build of the functions for Vercel.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { buildOutput } from "../../functions/vercel/build.ts";
import { type HranaServer, startHranaServer } from "../../testing/hrana-server.ts";

type WebHandler = (request: Request) => Promise<Response>;

let directory: string;
let server: HranaServer;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "wadi-vercel-output-"));
  await buildOutput(directory);
  server = await startHranaServer();
  vi.stubEnv("DATABASE_URL", undefined);
  vi.stubEnv("TURSO_DATABASE_URL", server.url);
  vi.stubEnv("WADI_SECRET", "secret");
  vi.stubEnv("CRON_SECRET", "cron");
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
});

const readJson = (...path: string[]) => JSON.parse(readFileSync(join(...path), "utf8"));

it("writes what the Build Output API takes, a function for each cron job among it", () => {
  expect(readJson(directory, "config.json")).toEqual({ version: 3 });
  const functions = join(directory, "functions", "api");
  expect(readdirSync(functions).sort()).toEqual(["cron.func", "submit.func", "wait.func"]);
  for (const name of readdirSync(functions)) {
    expect(readJson(functions, name, ".vc-config.json")).toMatchObject({
      handler: "index.mjs",
      launcherType: "Nodejs",
    });
    expect(readdirSync(join(functions, name)).sort()).toEqual([".vc-config.json", "index.mjs"]);
  }
  const { crons, buildCommand } = readJson("vercel.json");
  expect(buildCommand).toBe("node functions/vercel/build.ts");
  for (const { path } of crons) {
    const config = readJson(directory, "functions", `${path}.func`, ".vc-config.json");
    expect(config.maxDuration).toBe(60);
  }
});

it("bundles functions that submit, drain and answer by themselves, on a libSQL server", async () => {
  const call = async (name: string, method: string, query: string, token: string, body: unknown = null) => {
    const file = join(directory, "functions", "api", `${name}.func`, "index.mjs");
    const handlers = (await import(pathToFileURL(file).href)) as Record<string, WebHandler>;
    const headers = { authorization: `Bearer ${token}` };
    const init = { method, headers, body: body === null ? null : JSON.stringify(body) };
    const response = await handlers[method]!(new Request(`https://wadi.test/api/${name}${query}`, init));
    return { status: response.status, body: await response.json() };
  };
  const task = { name: "text.stats", payload: { text: "a b" }, key: "k" };
  expect(await call("submit", "POST", "", "secret", task)).toMatchObject({ status: 201 });
  expect(await call("cron", "GET", "", "cron")).toMatchObject({ status: 200, body: { succeeded: 1 } });
  expect(await call("wait", "GET", "?key=k", "secret")).toMatchObject({
    status: 200,
    body: { result: { words: 2 } },
  });
  expect(await call("cron", "GET", "", "wrong")).toMatchObject({ status: 401 });
});
