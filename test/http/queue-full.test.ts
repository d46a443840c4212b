// Full queues, debounce and throttle over HTTP.

import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { betterSqlite3 } from "../../src/drivers/better-sqlite3.ts";
import { Wadi } from "../../src/index.ts";
import { openFixture } from "../../testing/http-fixture.ts";

it("answers 429 while the queue is full, and says when to ask again", async () => {
  const wadi = new Wadi(betterSqlite3(new Database(":memory:")), { maxQueueDepth: 1 });
  const { call, errors } = openFixture({ wadi });
  expect((await call("POST", "/tasks", { body: { name: "a" } })).status).toBe(201);
  const full = await call("POST", "/tasks", { body: { name: "a" } });
  expect([full.status, full.headers.get("retry-after")]).toEqual([429, "1"]);
  expect(full.body.error).toMatchObject({
    code: "QUEUE_FULL",
    retryable: true,
    message: expect.stringMatching(/^the queue "default" has no room/),
  });
  expect(errors).toEqual([]);
});

it("debounces and throttles", async () => {
  const { call } = openFixture();
  const submit = (payload: number, options: object) =>
    call("POST", "/tasks", { body: { name: "a", payload, ...options } });
  const debounce = { key: "k", debounce: { delayMs: 60_000 } };
  expect((await submit(1, debounce)).status).toBe(201);
  const second = await submit(2, debounce);
  expect([second.status, second.body.outcome, second.body.payload]).toEqual([200, "debounced", 2]);
  const throttled = await submit(3, { key: "k", throttle: { perMs: 60_000 } });
  expect([throttled.status, throttled.body.outcome, throttled.body.payload]).toEqual([200, "reused", 2]);
  const wrong = await submit(4, { key: "k", throttle: { perMs: 0 } });
  expect([wrong.status, wrong.body.error.message]).toEqual([
    400,
    expect.stringMatching(/^throttle.perMs must be/),
  ]);
});
