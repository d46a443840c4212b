// Wrong options of the HTTP handler are refused.

import { expect, test } from "vitest";
import { createHandler } from "../../src/http/index.ts";
import { openFixture } from "../../testing/http-fixture.ts";
import { memoryWadi } from "../../testing/memory.ts";

const wadi = memoryWadi();

test.each<[options: object, message: string]>([
  [{}, "createHandler needs the option wadi, a Wadi or a function that returns one, got undefined"],
  [{ wadi: {} }, "createHandler needs the option wadi, a Wadi or a function that returns one, got object"],
  [{ wadi, worker: {} }, "worker must be a Worker, or a function that returns one, got object"],
  [{ wadi, tasks: "sum" }, "tasks must be an array of task definitions, got string"],
  [{ wadi, tasks: ["sum"] }, "tasks must contain only definitions from defineTask({ name }), got string"],
  [{ wadi, basePath: 5 }, 'basePath must be "" or begin with "/", such as "/api/wadi", got 5'],
  [
    { wadi, basePath: "api" },
    'basePath must be "" or begin with "/", such as "/api/wadi", got a path without a leading slash',
  ],
  [{ wadi, onError: 5 }, "onError must be a function, got 5"],
])("a handler with %j is refused", (options, message) => {
  const make = () => createHandler({ secret: "s", ...options } as never);
  expect(make).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT", message }));
});

test("a wait that is not a number is refused with its type, and an unknown path with what to check", async () => {
  const { call } = await openFixture();
  const waited = await call("GET", "/tasks/x/wait?timeoutMs=soon");
  expect(waited.body.error.message).toBe("timeoutMs must be an integer from 0 to 25000, got string");
  const lost = await call("GET", "/nothing");
  expect(lost.body.error.message).toBe(
    "there is no such route; check the path and the basePath of the handler",
  );
  const undrained = openFixture({ worker: undefined });
  const drain = await undrained.call("POST", "/drain");
  expect([drain.status, drain.body.error.message]).toEqual([
    404,
    "this handler has no worker, so it has no /drain; pass worker to createHandler",
  ]);
});
