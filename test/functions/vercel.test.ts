// The functions for Vercel, on libSQL and on Neon.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { startNeonEndpoint } from "../../testing/neon-endpoint.ts";
import { createDatabase } from "../../testing/postgres.ts";

const WADI_SECRET = "the secret of the application";
const CRON_SECRET = "the secret of the cron jobs";
const VARIABLES = [
  "DATABASE_URL",
  "TURSO_DATABASE_URL",
  "TURSO_AUTH_TOKEN",
  "LIBSQL_URL",
  "LIBSQL_AUTH_TOKEN",
];

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** The functions as a fresh instance has them, with this environment. */
async function deploy(env: Record<string, string>) {
  vi.resetModules();
  for (const name of [...VARIABLES, "WADI_SECRET", "CRON_SECRET"]) vi.stubEnv(name, env[name]);
  const log = vi.spyOn(console, "error").mockImplementation(() => {});
  const submit = await import("../../functions/vercel/submit.ts");
  const wait = await import("../../functions/vercel/wait.ts");
  const cron = await import("../../functions/vercel/cron.ts");
  return { submit, wait, cron, log };
}

function request(method: string, path: string, token: string | null, body?: unknown): Request {
  return new Request(`https://wadi.test${path}`, {
    method,
    headers: token === null ? {} : { authorization: `Bearer ${token}` },
    body: body === undefined ? null : JSON.stringify(body),
  });
}

const post = (body: unknown, token: string | null = WADI_SECRET) =>
  request("POST", "/api/submit", token, body);
const stats = { name: "text.stats", payload: { text: "# Title\n\nOne two three.\n" } };
const secrets = { WADI_SECRET, CRON_SECRET };

const databases = {
  async libsql() {
    const directory = mkdtempSync(join(tmpdir(), "wadi-vercel-"));
    return {
      env: { TURSO_DATABASE_URL: `file:${join(directory, "data.db")}` },
      close: async () => rmSync(directory, { recursive: true, force: true }),
    };
  },
  async neon() {
    const endpoint = await startNeonEndpoint({ postgresUrl: await createDatabase() });
    return { env: { DATABASE_URL: endpoint.connectionString }, close: endpoint.stop };
  },
};

describe.each(["libsql", "neon"] as const)("the Vercel functions on %s", (name) => {
  it("submit, drain by GET and by POST, and wait for the result by key and by id", async () => {
    const database = await databases[name]();
    const { submit, wait, cron } = await deploy({ ...secrets, ...database.env });
    const get = async (query: string) => {
      const response = await wait.GET(request("GET", `/api/wait?${query}`, WADI_SECRET));
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    try {
      for (const method of ["GET", "POST"] as const) {
        const key = `docs/${method} ä`;
        const submitted = await submit.POST(post({ ...stats, key }));
        expect(submitted.status).toBe(201);
        const { id } = (await submitted.json()) as { id: string };
        expect((await get(`id=${id}&timeoutMs=0`)).status).toBe(202);

        const waiting = get(`key=${encodeURIComponent(key)}`);
        const drained = await cron[method](request(method, "/api/cron", CRON_SECRET));
        expect(drained.status).toBe(200);
        expect(await drained.json()).toMatchObject({ claimed: 1, succeeded: 1, more: false });

        const { status, body } = await waiting;
        expect(status).toBe(200);
        expect(body).toMatchObject({ id, status: "succeeded", result: { lines: 3, words: 5, headings: 1 } });
        expect(await get(`id=${id}`)).toEqual({ status, body });
        const again = await submit.POST(post({ ...stats, key, conflict: "reuse-succeeded" }));
        expect([again.status, ((await again.json()) as { id: string }).id]).toEqual([200, id]);
      }
    } finally {
      await database.close();
    }
  });
});

it.each([".", "..", "wait", "a/b"])("a wait for the key %j is a wait for that key", async (key) => {
  const { submit, wait } = await deploy({ ...secrets, LIBSQL_URL: "file::memory:" });
  for (const other of [".", "..", "wait", "a/b"]) {
    if (other !== key) await submit.POST(post({ ...stats, key: other }));
  }
  const get = () =>
    wait.GET(request("GET", `/api/wait?key=${encodeURIComponent(key)}&timeoutMs=0`, WADI_SECRET));
  expect((await get()).status).toBe(404);
  const { id } = (await (await submit.POST(post({ ...stats, key }))).json()) as { id: string };
  const found = await get();
  expect([found.status, await found.json()]).toMatchObject([202, { id }]);
});

describe("the Vercel functions refuse", () => {
  it("every token but their own", async () => {
    const { submit, wait, cron } = await deploy({ ...secrets, LIBSQL_URL: "file::memory:" });
    for (const token of [null, "wrong", CRON_SECRET]) {
      expect((await submit.POST(post(stats, token))).status).toBe(401);
      expect((await wait.GET(request("GET", "/api/wait?key=k", token))).status).toBe(401);
    }
    for (const token of [null, "wrong", "undefined", ""]) {
      expect((await cron.GET(request("GET", "/api/cron", token))).status).toBe(401);
      expect((await cron.POST(request("POST", "/api/cron", token))).status).toBe(401);
    }
  });

  it("everything without secrets, and the log says once how to set them", async () => {
    const { submit, cron, log } = await deploy({ LIBSQL_URL: "file::memory:" });
    expect((await submit.POST(post(stats, "undefined"))).status).toBe(401);
    expect((await cron.GET(request("GET", "/api/cron", "undefined"))).status).toBe(401);
    expect(log.mock.calls).toEqual([[expect.stringMatching(/set WADI_SECRET .* and CRON_SECRET/)]]);
  });

  it("a wrong request", async () => {
    const { submit, wait } = await deploy({ ...secrets, LIBSQL_URL: "file::memory:" });
    expect((await submit.POST(post({ name: "rm" }))).status).toBe(400);
    expect((await submit.POST(request("POST", "/api/submit", WADI_SECRET))).status).toBe(400);
    for (const query of ["", "?key=", "?id=", "?key=k&timeoutMs=soon", "?key=k&timeout=9"]) {
      expect((await wait.GET(request("GET", `/api/wait${query}`, WADI_SECRET))).status).toBe(400);
    }
    expect((await wait.GET(request("GET", "/api/wait?id=none", WADI_SECRET))).status).toBe(404);
  });

  it.each([
    ["no database", {}, "no database is configured; set DATABASE_URL "],
    [
      "another protocol",
      { DATABASE_URL: "mysql://user:hunter2@db/x" },
      "DATABASE_URL is not a postgres:// URL with a host; set",
    ],
    [
      "a broken URL",
      { DATABASE_URL: "postgres://[hunter2" },
      "DATABASE_URL is not a postgres:// URL with a host; set",
    ],
    [
      "a broken libSQL URL",
      { LIBSQL_URL: "hunter2" },
      "the libSQL client does not accept the URL of the database; set",
    ],
  ])("%s, with what to set and without the URL", async (_what, env, message) => {
    const { submit, cron, log } = await deploy({ ...secrets, ...(env as Record<string, string>) });
    for (const response of [
      await submit.POST(post(stats)),
      await cron.GET(request("GET", "/api/cron", CRON_SECRET)),
    ]) {
      expect(response.status).toBe(500);
      const { error } = (await response.json()) as { error: { code: string; message: string } };
      expect(error).toMatchObject({ code: "NOT_CONFIGURED", message: expect.stringContaining(message) });
      expect(error.message).not.toContain("hunter2");
    }
    expect(log).toHaveBeenCalledTimes(2);
  });

  it("a database that cannot be reached, with 503 and no word of where it is", async () => {
    const { cron } = await deploy({ ...secrets, LIBSQL_URL: "http://127.0.0.1:9" });
    const response = await cron.GET(request("GET", "/api/cron", CRON_SECRET));
    expect([response.status, await response.json()]).toEqual([
      503,
      {
        error: {
          code: "DRIVER_ERROR",
          message: "the database is not available at the moment; try again",
          retryable: true,
        },
      },
    ]);
  });

  it("a wrong password of Neon, with 500 and no word of it", async () => {
    const endpoint = await startNeonEndpoint({ postgresUrl: await createDatabase() });
    const url = new URL(endpoint.connectionString);
    url.password = "hunter2";
    const { submit } = await deploy({ ...secrets, DATABASE_URL: url.href });
    const response = await submit.POST(post(stats));
    const text = await response.text();
    expect([response.status, JSON.parse(text).error.code]).toEqual([500, "DRIVER_ERROR"]);
    expect(text).not.toContain("hunter2");
    await endpoint.stop();
  });
});
