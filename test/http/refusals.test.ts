// Requests that the HTTP handler refuses.

import { describe, expect, it } from "vitest";
import { createHandler } from "../../src/http/index.ts";
import { type CallOptions, openFixture } from "../../testing/http-fixture.ts";

const PRIVATE = "a-private-value";

type Case = [what: string, method: string, path: string, options: CallOptions, status: number, code: string];

const submit = (body: unknown): CallOptions => ({ body });
const task = (fields: object): CallOptions => ({ body: { name: "a", payload: PRIVATE, ...fields } });

const CASES: Case[] = [
  ["an unknown route", "GET", "/nothing", {}, 404, "NOT_FOUND"],
  ["the root", "GET", "/", {}, 404, "NOT_FOUND"],
  ["a route with more behind it", "GET", "/tasks/x/wait/more", {}, 404, "NOT_FOUND"],
  ["an unknown id", "GET", "/tasks/none", {}, 404, "NOT_FOUND"],
  ["an unknown key", "GET", "/keys/none", {}, 404, "NOT_FOUND"],
  ["the wrong method on /tasks", "GET", "/tasks", {}, 405, "METHOD_NOT_ALLOWED"],
  ["the wrong method on a task", "DELETE", "/tasks/x", {}, 405, "METHOD_NOT_ALLOWED"],
  ["the wrong method on a wait", "POST", "/keys/k/wait", {}, 405, "METHOD_NOT_ALLOWED"],
  ["a drain by HEAD", "HEAD", "/drain", {}, 405, ""],
  ["no token", "POST", "/tasks", { token: null, body: "{" }, 401, "UNAUTHORIZED"],
  ["a wrong token", "GET", "/tasks/none", { token: PRIVATE }, 401, "UNAUTHORIZED"],
  ["a prefix of the token", "POST", "/drain", { token: "correct horse battery stapl" }, 401, "UNAUTHORIZED"],
  ["an empty body", "POST", "/tasks", {}, 400, "INVALID_JSON"],
  ["a body that is not JSON", "POST", "/tasks", submit(`{${PRIVATE}`), 400, "INVALID_JSON"],
  ["a form", "POST", "/tasks", submit(`name=${PRIVATE}`), 400, "INVALID_JSON"],
  ["an array", "POST", "/tasks", submit("[]"), 400, "INVALID_JSON"],
  ["null", "POST", "/tasks", submit("null"), 400, "INVALID_JSON"],
  ["a body that is too large", "POST", "/tasks", submit(`"${"x".repeat(1000)}"`), 413, "PAYLOAD_TOO_LARGE"],
  ["no name", "POST", "/tasks", submit({ payload: PRIVATE }), 400, "INVALID_ARGUMENT"],
  ["a name that is no text", "POST", "/tasks", task({ name: 1 }), 400, "INVALID_ARGUMENT"],
  ["a misspelt field", "POST", "/tasks", task({ delay: 1 }), 400, "INVALID_ARGUMENT"],
  ["an unknown policy", "POST", "/tasks", task({ key: "k", conflict: "skip" }), 400, "INVALID_ARGUMENT"],
  ["a policy without a key", "POST", "/tasks", task({ conflict: "reject" }), 400, "INVALID_ARGUMENT"],
  ["a negative delay", "POST", "/tasks", task({ delayMs: -1 }), 400, "INVALID_ARGUMENT"],
  ["no attempts", "POST", "/tasks", task({ maxAttempts: 0 }), 400, "INVALID_ARGUMENT"],
  ["a priority out of range", "POST", "/tasks", task({ priority: 1e6 }), 400, "INVALID_ARGUMENT"],
  ["metadata that is no object", "POST", "/tasks", task({ metadata: PRIVATE }), 400, "INVALID_ARGUMENT"],
  ["a key with NUL", "POST", "/tasks", task({ key: "\0" }), 400, "INVALID_ARGUMENT"],
  ["an empty key", "GET", "/keys/", {}, 400, "INVALID_ARGUMENT"],
  ["a key that is too long", "GET", `/keys/${"k".repeat(1025)}`, {}, 400, "INVALID_ARGUMENT"],
  ["malformed percent-encoding", "GET", "/keys/%E0%A4%A", {}, 400, "INVALID_ARGUMENT"],
  ["a misspelt query parameter", "GET", "/keys/k/wait?timeout=9", {}, 400, "INVALID_ARGUMENT"],
  ["a query on a task", "GET", "/keys/k?timeoutMs=9", {}, 400, "INVALID_ARGUMENT"],
  ["a query on a submit", "POST", "/tasks?delayMs=9", task({}), 400, "INVALID_ARGUMENT"],
  ["a query on a drain", "POST", "/drain?budgetMs=9", {}, 400, "INVALID_ARGUMENT"],
  ["a timeout that is no number", "GET", "/keys/k/wait?timeoutMs=soon", {}, 400, "INVALID_ARGUMENT"],
  ["a timeout that is empty", "GET", "/keys/k/wait?timeoutMs=", {}, 400, "INVALID_ARGUMENT"],
  ["a timeout below 0", "GET", "/keys/k/wait?timeoutMs=-1", {}, 400, "INVALID_ARGUMENT"],
  ["a timeout that is too long", "GET", "/keys/k/wait?timeoutMs=25001", {}, 400, "INVALID_ARGUMENT"],
];

describe("refuses", () => {
  it.each(CASES)("%s: %s %s", async (_what, method, path, options, status, code) => {
    const { call, wadi, errors } = openFixture({ maxBodyBytes: 1000 });
    const answer = await call(method, path, options);
    expect([answer.status, answer.body?.error.code ?? ""]).toEqual([status, code]);
    if (method !== "HEAD") {
      expect(answer.body).toEqual({
        error: { code, message: expect.stringMatching(/^.{10,200}$/), retryable: false },
      });
    }
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("content-type")).toBe("application/json");
    expect(answer.headers.get("www-authenticate")).toBe(status === 401 ? "Bearer" : null);
    expect(answer.text).not.toContain(PRIVATE);
    expect(errors).toEqual([]);
    expect(await wadi.list()).toEqual([]);
  });
});

it("answers 409 with the id of the task that has the key, under `reject`", async () => {
  const { call, wadi } = openFixture();
  const first = await wadi.submit("a", null, { key: "k" });
  const { status, body } = await call("POST", "/tasks", task({ key: "k", conflict: "reject" }));
  expect([status, body.error.code, body.error.retryable]).toEqual([409, "ALREADY_EXISTS", false]);
  expect(body.error.message).toContain(first.id);
  expect(await wadi.list()).toHaveLength(1);
});

it("names the methods a route takes", async () => {
  const { call } = openFixture();
  expect((await call("PUT", "/tasks")).headers.get("allow")).toBe("POST, OPTIONS");
  const options = await call("OPTIONS", "/keys/k/wait", { token: null });
  expect([options.status, options.headers.get("allow"), options.text]).toEqual([
    204,
    "GET, HEAD, OPTIONS",
    "",
  ]);
});

it("names the query parameters a route takes", async () => {
  const { call } = openFixture();
  const message = async (path: string) => (await call("GET", path)).body.error.message;
  expect(await message("/keys/k/wait?timeoutMs=9&timeout=9")).toBe(
    'this route has no query parameter "timeout"; it takes timeoutMs',
  );
  expect(await message("/keys/k?wait=1")).toBe('this route has no query parameter "wait"; it takes none');
});

it("stops reading a body without a length as soon as it is too large", async () => {
  const { handler } = openFixture({ maxBodyBytes: 1000 });
  let sent = 0;
  let canceled = false;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 100;
      controller.enqueue(new Uint8Array(100).fill(32));
    },
    cancel() {
      canceled = true;
    },
  });
  const headers = { authorization: "Bearer correct horse battery staple" };
  const init = { method: "POST", headers, body, duplex: "half" };
  const response = await handler(new Request("https://wadi.test/tasks", init as RequestInit));
  expect(response.status).toBe(413);
  expect(sent).toBeLessThan(2000);
  expect(canceled).toBe(true);
});

it("refuses a body that is not UTF-8", async () => {
  const { handler } = openFixture();
  const headers = { authorization: "Bearer correct horse battery staple" };
  const body = new Uint8Array([0x22, 0xff, 0x22]);
  const response = await handler(new Request("https://wadi.test/tasks", { method: "POST", headers, body }));
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code: "INVALID_JSON" } });
});

it("refuses JSON that is nested too deep to be stored", async () => {
  const { call, wadi } = openFixture();
  const depth = 200_000;
  const body = `{"name":"a","payload":${"[".repeat(depth)}${"]".repeat(depth)}}`;
  const { status, body: answer } = await call("POST", "/tasks", { body });
  expect([status, answer.error.code]).toEqual([400, "SERIALIZATION_ERROR"]);
  expect(await wadi.list()).toEqual([]);
});

it.each([{ name: "a" }, { name: "a", payload: null, limits: { key: "k", concurrency: 1 } }, 5, undefined])(
  "takes no definition for a name: %j",
  async (name) => {
    const { call, wadi, errors } = openFixture();
    const { status, body } = await call("POST", "/tasks", task({ name }));
    expect([status, body.error.code]).toEqual([400, "INVALID_ARGUMENT"]);
    expect(body.error.message).toMatch(/^name must be a non-empty string/);
    expect([await wadi.list(), errors]).toEqual([[], []]);
  },
);

it("refuses to be made without a Wadi, rather than failing each request", () => {
  expect(() => createHandler({ secret: "x" } as never)).toThrow(/^createHandler needs the option wadi/);
  expect(() => createHandler(undefined as never)).toThrow(/^createHandler needs the option wadi/);
});
