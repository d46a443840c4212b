// The Cloudflare worker in workerd.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CloudflareRuntime, startCloudflare } from "./cloudflare-runtime.ts";

const SECRET = "a secret of the tests";

describe("the Cloudflare worker in workerd", () => {
  let cloudflare: CloudflareRuntime;
  beforeAll(async () => {
    cloudflare = await startCloudflare({ WADI_SECRET: SECRET });
  });
  afterAll(() => cloudflare.stop());

  const headers = { authorization: `Bearer ${SECRET}` };
  const submit = (body: unknown) =>
    cloudflare.fetch("/tasks", { method: "POST", headers, body: JSON.stringify(body) });
  const stats = (text: string, fields: object = {}) => ({ name: "text.stats", payload: { text }, ...fields });

  it("takes the first requests at once while its database has no tables", async () => {
    const answers = await Promise.all(
      [1, 2, 3, 4].map((n) => submit(stats(`first ${n}`, { key: `first/${n}` }))),
    );
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(await cloudflare.fireCron()).toBe("ok");
  });

  it("runs what was submitted when the cron fires, and a request in flight gets the result by key", async () => {
    const submitted = await submit(stats("# Title\n\nOne two\nthree.\n", { key: "docs/readme" }));
    expect(submitted.status).toBe(201);
    const waiting = cloudflare.fetch("/keys/docs%2Freadme/wait", { headers });
    expect(await cloudflare.fireCron()).toBe("ok");
    const answer = await waiting;
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      status: "succeeded",
      result: { lines: 4, words: 5, headings: 1, longestParagraph: { line: 3, words: 3 } },
    });
    expect(cloudflare.log.at(-1)).toEqual({
      level: "log",
      message: expect.stringMatching(/^drain \{"claimed":1,"succeeded":1,/),
    });
  });

  it("answers by id, waits by id, and drains by request", async () => {
    const { id } = (await (await submit(stats("a b"))).json()) as { id: string };
    const pending = await cloudflare.fetch(`/tasks/${id}/wait?timeoutMs=0`, { headers });
    expect(pending.status).toBe(202);
    const drained = await cloudflare.fetch("/drain", { method: "POST", headers });
    expect(await drained.json()).toMatchObject({ claimed: 1, succeeded: 1 });
    for (const path of [`/tasks/${id}`, `/tasks/${id}/wait`]) {
      const answer = await cloudflare.fetch(path, { headers });
      expect([answer.status, ((await answer.json()) as { status: string }).status]).toEqual([
        200,
        "succeeded",
      ]);
    }
  });

  it("writes nothing to the log when nothing is due", async () => {
    const before = cloudflare.log.length;
    expect(await cloudflare.fireCron()).toBe("ok");
    expect(cloudflare.log.length).toBe(before);
  });

  it.each([
    ["a wrong secret", { authorization: "Bearer wrong" }, JSON.stringify(stats("a")), 401, "UNAUTHORIZED"],
    ["no secret", {}, JSON.stringify(stats("a")), 401, "UNAUTHORIZED"],
    ["a body that is not JSON", headers, "{", 400, "INVALID_JSON"],
    [
      "a payload of another shape",
      headers,
      JSON.stringify({ name: "text.stats", payload: {} }),
      400,
      "INVALID_ARGUMENT",
    ],
    ["a task it does not have", headers, JSON.stringify({ name: "rm" }), 400, "INVALID_ARGUMENT"],
    [
      "more than a D1 row takes",
      headers,
      JSON.stringify(stats("x".repeat(1_950_000))),
      400,
      "INVALID_ARGUMENT",
    ],
    ["3 MB", headers, JSON.stringify(stats("x".repeat(3_000_000))), 413, "PAYLOAD_TOO_LARGE"],
  ])("refuses %s", async (_what, headers, body, status, code) => {
    const answer = await cloudflare.fetch("/tasks", {
      method: "POST",
      headers: headers as HeadersInit,
      body,
    });
    expect(answer.status).toBe(status);
    expect(await answer.json()).toEqual({ error: { code, message: expect.any(String), retryable: false } });
  });
});

it("refuses every request while no secret is set, and says once in the log how to set it", async () => {
  const cloudflare = await startCloudflare({});
  try {
    for (const path of ["/tasks/x", "/keys/k", "/drain"]) {
      for (const headers of [{}, { authorization: "Bearer undefined" }]) {
        expect((await cloudflare.fetch(path, { headers: headers as HeadersInit })).status).toBe(401);
      }
    }
    expect(cloudflare.log).toEqual([
      { level: "error", message: expect.stringContaining("npx wrangler secret put WADI_SECRET") },
    ]);
    expect(await cloudflare.fireCron()).toBe("ok");
  } finally {
    await cloudflare.stop();
  }
});

it("runs a task without the cron trigger if it has a binding of itself, and signs the kick", async () => {
  const cloudflare = await startCloudflare({ WADI_SECRET: SECRET }, { kicks: true });
  const headers = { authorization: `Bearer ${SECRET}` };
  try {
    const body = JSON.stringify({ name: "text.stats", payload: { text: "a b" }, key: "kicked" });
    expect((await cloudflare.fetch("/tasks", { method: "POST", headers, body })).status).toBe(201);
    const answer = await cloudflare.fetch("/keys/kicked/wait", { headers });
    expect(await answer.json()).toMatchObject({ status: "succeeded" });
    expect(cloudflare.log.filter(({ level }) => level !== "log")).toEqual([]);
  } finally {
    await cloudflare.stop();
  }
});
