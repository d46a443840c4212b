// What the HTTP handler answers if the database fails.

import Database from "better-sqlite3";
import { expect, it, onTestFinished, vi } from "vitest";
import type { ErrorClass, Executor } from "../../src/driver.ts";
import { betterSqlite3 } from "../../src/drivers/better-sqlite3.ts";
import { HttpError } from "../../src/http/index.ts";
import { DriverError, Wadi } from "../../src/index.ts";
import { sqlite } from "../../src/protocol/sqlite.ts";
import { openFixture } from "../../testing/http-fixture.ts";

const LEAKS = /postgres:|password|select|insert|super-secret-payload|stack|\.ts/i;

/** An executor whose every request fails, with all a careless driver would put into its message. */
function failing(kind: ErrorClass): Executor {
  const fail = async () => {
    throw new Error("postgres://user:password@db/x: insert into t values ('super-secret-payload')");
  };
  const traits = {
    name: "failing",
    dialect: "sqlite",
    protocol: sqlite,
    limits: { maxParamBytes: 1e6, maxBatchStatements: 10 },
  } as const;
  return { ...traits, run: fail, batch: fail, classify: () => kind, close: async () => {} };
}

const requests = [
  ["POST", "/tasks", { name: "a", payload: "super-secret-payload" }],
  ["GET", "/tasks/x", undefined],
  ["GET", "/keys/k/wait", undefined],
  ["POST", "/drain", undefined],
] as const;

it.each([
  ["busy", 503, true],
  ["unavailable", 503, true],
  ["unknown", 503, true],
  ["rejected", 500, false],
  ["denied", 500, false],
  ["unusable", 500, false],
  ["invalid-value", 500, false],
  ["conflict", 500, false],
] as const)("answers %s databases with %i, leaks no detail and logs all", async (kind, status, retryable) => {
  for (const [method, path, body] of requests) {
    const { call, errors } = openFixture({ executor: failing(kind) });
    const answer = await call(method, path, { body });
    expect([answer.status, answer.body.error.code, answer.body.error.retryable]).toEqual([
      status,
      "DRIVER_ERROR",
      retryable,
    ]);
    expect(answer.headers.get("retry-after")).toBe(retryable ? "1" : null);
    expect(answer.text).not.toMatch(LEAKS);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toBeInstanceOf(DriverError);
    expect(String((errors[0] as Error).cause)).toContain("super-secret-payload");
  }
});

it("answers 500 with its message for a database of a newer protocol, and writes nothing", async () => {
  const db = new Database(":memory:");
  await new Wadi(betterSqlite3(db)).migrate();
  db.exec("update cairnq_meta set value = '99' where key = 'protocol_version'");
  const { call } = openFixture({ executor: betterSqlite3(db) });
  const { status, body } = await call("POST", "/tasks", { body: { name: "a" } });
  expect([status, body.error.code]).toEqual([500, "PROTOCOL_VERSION_MISMATCH"]);
  expect(body.error.message).toContain("speaks CairnQ protocol version 99");
  expect(db.prepare("select count(*) as n from cairnq_tasks").get()).toEqual({ n: 0 });
});

it("answers 400 for a payload this database does not take", async () => {
  const executor = betterSqlite3(new Database(":memory:"));
  const { call } = openFixture({
    executor: { ...executor, limits: { maxParamBytes: 100, maxBatchStatements: 10 } },
  });
  const { status, body } = await call("POST", "/tasks", { body: { name: "a", payload: "x".repeat(200) } });
  expect([status, body.error.code]).toEqual([400, "INVALID_ARGUMENT"]);
  expect(body.error.message).toMatch(
    /^the payload of a is 202 bytes of JSON, better-sqlite3 takes at most 100;/,
  );
});

it("answers a connect that fails with what it throws, or with nothing about it", async () => {
  const refusing = openFixture({
    wadi: () => {
      throw new HttpError(500, "NOT_CONFIGURED", "set DATABASE_URL");
    },
  });
  expect((await refusing.call("GET", "/tasks/x")).body.error).toEqual({
    code: "NOT_CONFIGURED",
    message: "set DATABASE_URL",
    retryable: false,
  });
  const broken = openFixture({
    wadi: async () => {
      throw new TypeError("postgres://user:password@db/x is not a URL");
    },
  });
  const { status, body, text } = await broken.call("GET", "/tasks/x");
  expect([status, body.error.code]).toEqual([500, "INTERNAL_ERROR"]);
  expect(text).not.toMatch(LEAKS);
  expect([refusing.errors.length, broken.errors.length]).toEqual([1, 1]);
});

it.each([
  [
    "throws",
    () => {
      throw new Error("the log is full");
    },
  ],
  ["rejects", async () => Promise.reject(new Error("the log is full"))],
])("answers the same although onError %s, and logs both", async (_how, onError) => {
  const logged = vi.spyOn(console, "error").mockImplementation(() => {});
  onTestFinished(() => logged.mockRestore());
  const unhandled: unknown[] = [];
  const onRejection = (reason: unknown) => unhandled.push(reason);
  process.on("unhandledRejection", onRejection);
  onTestFinished(() => void process.off("unhandledRejection", onRejection));
  const { call } = openFixture({ executor: failing("unavailable"), onError });
  const { status, body } = await call("GET", "/tasks/x");
  expect([status, body.error.code]).toEqual([503, "DRIVER_ERROR"]);
  const refused = await openFixture({ secret: undefined, onError }).call("GET", "/tasks/x");
  expect(refused.status).toBe(401);
  await new Promise((resolve) => setTimeout(resolve, 0));
  expect(unhandled).toEqual([]);
  expect(logged.mock.calls.flat().map(String)).toEqual(
    expect.arrayContaining([
      "wadi: onError of createHandler failed",
      "Error: the log is full",
      expect.stringMatching(/DriverError/),
    ]),
  );
});

it("answers a wait whose database is away at its end with 503, and not as a task that is missing", async () => {
  const inner = betterSqlite3(new Database(":memory:"));
  const { id } = await new Wadi(inner).submit("a", 1);
  let isAway = false;
  const executor: Executor = {
    ...inner,
    run: async (statement) => {
      if (isAway) throw new Error("no route to it");
      setTimeout(() => {
        isAway = true;
      }, 0);
      return inner.run(statement);
    },
    classify: (error) => (isAway ? "unavailable" : inner.classify(error)),
  };
  const { call } = openFixture({ executor });
  await call("GET", `/tasks/${id}`);
  isAway = false;
  const answer = await call("GET", `/tasks/${id}/wait?timeoutMs=50`);
  expect([answer.status, answer.body.error.code]).toEqual([503, "DRIVER_ERROR"]);
});
