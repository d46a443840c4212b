// The routes of the HTTP handler.

import { describe, expect, it } from "vitest";
import { double, openFixture, SECRET } from "../../testing/http-fixture.ts";

describe("POST /tasks", () => {
  it("answers 201 with the new task and where to find it", async () => {
    const { call, wadi } = openFixture();
    const answer = await call("POST", "/tasks", {
      body: {
        name: "double",
        payload: { n: 21 },
        key: "k",
        queue: "q",
        priority: 5,
        maxAttempts: 2,
        metadata: { from: "test" },
        correlationId: "c",
        delayMs: 60_000,
      },
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      name: "double",
      payload: { n: 21 },
      status: "queued",
      outcome: "created",
      queue: "q",
      priority: 5,
      maxAttempts: 2,
      metadata: { from: "test" },
      correlationId: "c",
    });
    expect(answer.body.runAtMs).toBeGreaterThanOrEqual(answer.body.createdAtMs + 60_000);
    expect(answer.headers.get("location")).toBe(`/tasks/${answer.body.id}`);
    expect(answer.headers.get("content-type")).toBe("application/json");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const { outcome: _, ...task } = answer.body;
    expect(await wadi.getByKey("k")).toEqual(task);
  });

  it("answers 200 with the task the key has", async () => {
    const { call } = openFixture();
    const first = await call("POST", "/tasks", { body: { name: "double", payload: { n: 1 }, key: "k" } });
    const again = await call("POST", "/tasks", { body: { name: "double", payload: { n: 2 }, key: "k" } });
    expect(again.status).toBe(200);
    expect(again.body).toMatchObject({ id: first.body.id, outcome: "reused", payload: { n: 1 } });
  });

  it("takes nulls and a missing payload for what is not given", async () => {
    const { call } = openFixture();
    const answer = await call("POST", "/tasks", {
      body: { name: "any", key: null, queue: null, delayMs: null },
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ payload: {}, queue: "default" });
  });

  it("applies the defaults and the schema of its tasks, and refuses other names", async () => {
    const { call, wadi } = openFixture({ tasks: [double] });
    const good = await call("POST", "/tasks", { body: { name: "double", payload: { n: 1 } } });
    expect(good.body.maxAttempts).toBe(7);
    const wrong = await call("POST", "/tasks", { body: { name: "double", payload: { n: "1" } } });
    expect([wrong.status, wrong.body.error.code]).toEqual([400, "INVALID_ARGUMENT"]);
    expect(wrong.body.error.message).toBe("the payload of double does not match its schema at n");
    const other = await call("POST", "/tasks", { body: { name: "rm", payload: {} } });
    expect(other.status).toBe(400);
    expect(other.body.error.message).toBe("name must be one of the tasks of this endpoint: double");
    expect(await wadi.list()).toHaveLength(1);
  });
});

describe("GET /tasks/:id and /keys/:key", () => {
  it("answer 200 with the task, whatever characters the key has", async () => {
    const { call, wadi } = openFixture();
    const key = "invoice/2026 ü%?#";
    const { outcome: _, ...task } = await wadi.submit("double", { n: 1 }, { key });
    const byId = await call("GET", `/tasks/${task.id}`);
    expect([byId.status, byId.body]).toEqual([200, task]);
    const byKey = await call("GET", `/keys/${encodeURIComponent(key)}`);
    expect([byKey.status, byKey.body]).toEqual([200, task]);
  });

  it("answer HEAD with the headers of GET and no body", async () => {
    const { call, wadi } = openFixture();
    const { id } = await wadi.submit("double", { n: 1 });
    const found = await call("HEAD", `/tasks/${id}`);
    expect([found.status, found.text, found.headers.get("content-type")]).toEqual([
      200,
      "",
      "application/json",
    ]);
    const missing = await call("HEAD", "/tasks/none");
    expect([missing.status, missing.text]).toEqual([404, ""]);
  });
});

describe("GET …/wait", () => {
  it("answers 200 once the task is done, while another request drains", async () => {
    const { call, wadi } = openFixture();
    await wadi.migrate();
    const waiting = call("GET", "/keys/answer/wait");
    await wadi.submit(double, { n: 21 }, { key: "answer" });
    await call("POST", "/drain");
    const { status, body } = await waiting;
    expect([status, body.status, body.result]).toEqual([200, "succeeded", 42]);
  });

  it("answers 200 immediately for a task that has ended, failed ones too", async () => {
    const { call, wadi } = openFixture();
    const { id } = await wadi.submit("broken", null);
    await call("GET", "/drain");
    const { status, body } = await call("GET", `/tasks/${id}/wait?timeoutMs=0`);
    expect([status, body.status, body.error.code]).toEqual([200, "failed", "no_use"]);
  });

  it("answers 202 with the task as last seen when the time is up", async () => {
    const { call, wadi } = openFixture();
    const { id } = await wadi.submit("double", { n: 1 }, { key: "k" });
    for (const path of [`/tasks/${id}/wait`, "/keys/k/wait"]) {
      for (const timeoutMs of [0, 20]) {
        const { status, body } = await call("GET", `${path}?timeoutMs=${timeoutMs}`);
        expect([status, body.id, body.status]).toEqual([202, id, "queued"]);
      }
    }
  });

  it("answers 404 immediately for an id without a task, for a key when the time is up", async () => {
    const { call } = openFixture();
    const started = performance.now();
    expect((await call("GET", "/tasks/none/wait")).status).toBe(404);
    expect((await call("GET", "/keys/none/wait?timeoutMs=0")).status).toBe(404);
    expect((await call("GET", "/keys/none/wait?timeoutMs=20")).status).toBe(404);
    expect(performance.now() - started).toBeLessThan(5000);
  });

  it("ends when the client goes away", async () => {
    const { call, wadi, errors } = openFixture();
    const { id } = await wadi.submit("double", { n: 1 });
    const client = new AbortController();
    const waiting = call("GET", `/tasks/${id}/wait`, { signal: client.signal });
    client.abort();
    expect((await waiting).status).toBe(499);
    expect(errors).toEqual([]);
  });
});

describe("/drain", () => {
  it.each(["GET", "POST"])("runs what is due on %s and answers the summary", async (method) => {
    const { call, wadi } = openFixture();
    await wadi.submit(double, { n: 1 });
    await wadi.submit("broken", null);
    const { status, body } = await call(method, "/drain");
    expect(status).toBe(200);
    expect(body).toMatchObject({ claimed: 2, succeeded: 1, failed: 1, more: false, nextDueAtMs: null });
  });

  it("hands the drain to waitUntil and ends it before the deadline of the invocation", async () => {
    const { call, wadi, worker } = openFixture();
    worker.task("slow", ({ deadline }) => deadline!.getTime());
    const { id } = await wadi.submit("slow", null);
    const kept: Promise<unknown>[] = [];
    const deadline = new Date(Date.now() + 2000);
    const invocation = { waitUntil: (promise: Promise<unknown>) => kept.push(promise), deadline };
    await call("POST", "/drain", { invocation });
    expect(await Promise.all(kept)).toMatchObject([{ succeeded: 1 }]);
    expect((await wadi.get(id))!.result).toBeLessThan(deadline.getTime());
  });

  it.each([
    ["the deadline that Vercel reports", 90_000, {}, 70_000, 90_000],
    ["its budget, if that ends before", 90_000, { budgetMs: 5000 }, 2000, 5000],
    ["20 seconds elsewhere", null, {}, 15_000, 20_000],
  ])("lasts until %s", async (_, vercelMs, options, leastMs, mostMs) => {
    const context = Symbol.for("@vercel/request-context");
    const deadline = vercelMs === null ? undefined : new Date(Date.now() + vercelMs).toISOString();
    Object.assign(globalThis, { [context]: { get: () => ({ deadline }) } });
    const { call, wadi, worker } = openFixture(options);
    worker.task("slow", ({ remainingMs }) => remainingMs());
    const { id } = await wadi.submit("slow", null);
    await call("POST", "/drain").finally(() => Reflect.deleteProperty(globalThis, context));
    const ms = (await wadi.get(id))!.result;
    expect(ms).toBeGreaterThan(leastMs);
    expect(ms).toBeLessThan(mostMs);
  });

  it("does not exist without a worker", async () => {
    const { call } = openFixture({ worker: undefined });
    expect((await call("POST", "/drain")).status).toBe(404);
  });
});

it("serves below a base path only", async () => {
  const { call } = openFixture({ basePath: "/api/wadi/" });
  const { status, headers, body } = await call("POST", "/api/wadi/tasks", { body: { name: "a" } });
  expect([status, headers.get("location")]).toEqual([201, `/api/wadi/tasks/${body.id}`]);
  expect((await call("GET", `/tasks/${body.id}`)).status).toBe(404);
});

it("connects for requests that may pass, not for others", async () => {
  let connections = 0;
  const { wadi } = openFixture();
  const connect = async () => {
    connections++;
    return wadi;
  };
  const { call } = openFixture({ wadi: connect });
  await call("GET", "/tasks/x", { token: "wrong" });
  await call("POST", "/tasks", { body: "{" });
  expect(connections).toBe(0);
  await call("GET", "/tasks/x", { token: SECRET });
  expect(connections).toBe(1);
});
