// A submit on Vercel kicks the function behind /api/cron of its deployment.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";

const CONTEXT = Symbol.for("@vercel/request-context");
const directory = mkdtempSync(join(tmpdir(), "wadi-vercel-wake-"));

afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  delete (globalThis as { [CONTEXT]?: unknown })[CONTEXT];
  rmSync(directory, { recursive: true, force: true });
});

test("the kick is a part of the invocation, is answered before the drain has ended, and runs the task", async () => {
  vi.stubEnv("DATABASE_URL", undefined);
  vi.stubEnv("TURSO_DATABASE_URL", `file:${join(directory, "data.db")}`);
  vi.stubEnv("WADI_SECRET", "a secret");
  vi.stubEnv("VERCEL_ENV", "production");
  vi.stubEnv("VERCEL_PROJECT_PRODUCTION_URL", "wadi.test");
  const background: Promise<unknown>[] = [];
  const waitUntil = (promise: Promise<unknown>) => void background.push(promise);
  Object.assign(globalThis, { [CONTEXT]: { get: () => ({ waitUntil }) } });
  const { POST } = await import("../../functions/vercel/submit.ts");
  const cron = await import("../../functions/vercel/cron.ts");
  const wait = await import("../../functions/vercel/wait.ts");
  const kicks: [url: string, status: number][] = [];
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    const response = await cron.POST(new Request(url, init));
    kicks.push([url, response.status]);
    return response;
  });

  const headers = { authorization: "Bearer a secret" };
  const body = JSON.stringify({ name: "text.stats", payload: { text: "a b" }, key: "kicked" });
  const submitted = await POST(
    new Request("https://wadi.test/api/submit", { method: "POST", headers, body }),
  );
  expect(submitted.status).toBe(201);
  expect(background).toHaveLength(1);
  for (let i = 0; i < background.length; i++) await background[i];
  expect(kicks).toEqual([["https://wadi.test/api/cron", 202]]);
  const answer = await wait.GET(
    new Request("https://wadi.test/api/wait?key=kicked&timeoutMs=0", { headers }),
  );
  expect(await answer.json()).toMatchObject({ status: "succeeded" });
});
