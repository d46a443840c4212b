// Options with the names of other SDKs are refused with Wadi's name.

import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import { betterSqlite3 } from "../../src/drivers/better-sqlite3.ts";
import { Wadi, Worker } from "../../src/index.ts";

let db: Database.Database;
let wadi: Wadi;

beforeEach(() => {
  db = new Database(":memory:");
  wadi = new Wadi(betterSqlite3(db));
});

afterEach(() => db.close());

/** An option of a CairnQ SDK, in JavaScript or Python, and what Wadi says of it. */
test.each<[string, string, (wadi: Wadi, options: never) => unknown]>([
  [
    "runAtDelayMs",
    'submit has no option "runAtDelayMs"; in Wadi it is delayMs',
    (w, o) => w.submit("a", 1, o),
  ],
  ["run_at_delay_ms", "in Wadi it is delayMs", (w, o) => w.submit("a", 1, o)],
  ["max_attempts", "in Wadi it is maxAttempts", (w, o) => w.submit("a", 1, o)],
  ["correlation_id", "in Wadi it is correlationId", (w, o) => w.submit("a", 1, o)],
  ["runAtDelayMs", 'call has no option "runAtDelayMs"; in Wadi it is delayMs', (w, o) => w.call("a", 1, o)],
  ["waitTimeoutMs", "in Wadi it is timeoutMs", (w, o) => w.call("a", 1, o)],
  [
    "pollIntervalMs",
    'wait has no option "pollIntervalMs"; in Wadi it is pollMs',
    (w, o) => w.wait("task_x", o),
  ],
  ["root_id", "in Wadi it is rootId", (w, o) => w.list(o)],
  ["older_than_ms", "in Wadi it is olderThanMs", (w, o) => w.purge(o)],
  ["reset_attempt", "in Wadi it is resetAttempt", (w, o) => w.retry("task_x", o)],
  ["retryBackoffMs", "in Wadi it is backoff: { baseMs }", (w, o) => new Worker(w, o)],
  ["retry_backoff_max_ms", "in Wadi it is backoff: { capMs }", (w, o) => new Worker(w, o)],
  ["pollIntervalMs", "in Wadi it is pollMs", (w, o) => new Worker(w, o)],
  ["claimBatch", "in Wadi it is not needed: a claim fills", (w, o) => new Worker(w, o)],
  ["maxQueueDepth", "in Wadi it is maxQueueDepth of new Wadi", (w, o) => new Worker(w, o)],
  ["max_run_ms", "in Wadi it is maxRunMs", (w, o) => new Worker(w).task("a", () => 1, o)],
  [
    "concurrency",
    "in Wadi it is concurrency of new Worker",
    (w, o) => new Worker(w).task("a", () => 1).serve(o),
  ],
  ["busyTimeoutMs", "in Wadi it is busyTimeoutMs of the driver", (w, o) => new Wadi(w.executor, o)],
  ["retry", 'new Wadi has no option "retry"; in Wadi it is requestRetry', (w, o) => new Wadi(w.executor, o)],
  ["schema", "in Wadi it is schema of the driver", (w, o) => new Wadi(w.executor, o)],
])("%s is refused with the name that Wadi has for it: %s", async (option, message, act) => {
  await expect((async () => act(wadi, { [option]: 1 } as never))()).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    message: expect.stringContaining(message),
  });
});

test.each(["prio", "__proto__x", "constructor", "toString"])(
  "%s, which no SDK has, is refused with what there is",
  async (option) => {
    await expect(wadi.submit("a", 1, { [option]: 1 } as never)).rejects.toThrow(
      `submit has no option "${option}"; it takes key, `,
    );
  },
);

test("nothing was sent for any of them", () => {
  expect(db.prepare("select * from sqlite_master").all()).toEqual([]);
});
