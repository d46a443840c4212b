// A key belongs to one name of tasks.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Wadi, Worker } from "../../../src/index.ts";
import { openFixture } from "../../../testing/http-fixture.ts";
import { memoryWadi } from "../../../testing/memory.ts";
import type { OpenTarget } from "../../../testing/target.ts";
import { pickTargets } from "../../../testing/targets.ts";
import { nativeClients } from "../../../testing/transactional-clients.ts";

const CONFLICTS = ["reuse", "reuse-succeeded", "reject", "replace"] as const;

describe.each(pickTargets(["better-sqlite3-file", "libsql-http", "d1", "pg", "neon-http"]))(
  "a key that a task of another name has, on $name",
  ({ open }) => {
    let target: OpenTarget;
    let wadi: Wadi;

    beforeAll(async () => {
      target = await open();
      wadi = new Wadi(target.executor);
      await wadi.migrate();
    });

    afterAll(() => target.close());

    const refusal = (key: string, taskId: string) => ({
      name: "AlreadyExists",
      key,
      taskId,
      taskName: "a",
      submittedName: "b",
      message: expect.stringMatching(/"a".*"b"/),
    });

    test.each(CONFLICTS)("refuses a submit under %s, and changes nothing", async (conflict) => {
      const key = `queued:${conflict}`;
      const first = await wadi.submit("a", 1, { key });
      await expect(wadi.submit("b", 2, { key, conflict })).rejects.toMatchObject(refusal(key, first.id));
      expect(await wadi.getByKey(key)).toEqual({ ...first, outcome: undefined });
    });

    test("refuses a debounce and a throttle, and moves no key", async () => {
      const first = await wadi.submit("a", 1, { key: "paced" });
      for (const pace of [{ debounce: { delayMs: 10 } }, { throttle: { perMs: 60_000 } }]) {
        await expect(wadi.submit("b", 2, { key: "paced", ...pace })).rejects.toMatchObject(
          refusal("paced", first.id),
        );
      }
      expect(await wadi.getByKey("paced")).toMatchObject({ id: first.id, payload: 1, status: "queued" });
    });

    test("refuses a submitMany as a whole, unless the entry says reject", async () => {
      const first = await wadi.submit("a", 1, { key: "many" });
      const entries = [{ payload: "many" }, { payload: 2, key: "many" }];
      await expect(wadi.submitMany("b", entries)).rejects.toMatchObject(refusal("many", first.id));
      expect((await wadi.list({ name: "b" })).filter(({ payload }) => payload === "many")).toEqual([]);
      const rejected = await wadi.submitMany("b", [{ payload: 2, key: "many", conflict: "reject" }]);
      expect(rejected).toMatchObject([{ id: first.id, outcome: "rejected" }]);
    });

    test("frees it once that task has ended, where the policy says so", async () => {
      const first = await wadi.submit("a", 1, { key: "ended" });
      await wadi.cancel(first.id);
      expect(await wadi.submit("b", 2, { key: "ended" })).toMatchObject({ name: "b", outcome: "created" });
    });

    test("is shared with the option, as the protocol has it", async () => {
      const shared = new Wadi(target.executor, { keysAcrossNames: true });
      const first = await shared.submit("a", 1, { key: "shared" });
      expect(await shared.submit("b", 2, { key: "shared" })).toMatchObject({
        id: first.id,
        outcome: "reused",
      });
      expect(await shared.submitMany("b", [{ payload: 2, key: "shared" }])).toMatchObject([{ id: first.id }]);
      const next = await shared.submit("b", 3, { key: "shared", conflict: "replace" });
      expect(next).toMatchObject({ name: "b", outcome: "created" });
      expect((await shared.get(first.id))?.status).toBe("canceled");
    });
  },
);

test("submits of one tick with one key meet in their order", async () => {
  const wadi = memoryWadi();
  const [first, other, again] = await Promise.allSettled(
    ["a", "b", "a"].map((name) => wadi.submit(name, name, { key: "k" })),
  );
  expect(first).toMatchObject({ value: { name: "a", outcome: "created" } });
  expect(other).toMatchObject({ reason: { name: "AlreadyExists", taskName: "a", submittedName: "b" } });
  expect(again).toMatchObject({ value: { name: "a", outcome: "reused" } });
});

test("call gets no result of another name", async () => {
  const wadi = memoryWadi();
  const worker = new Worker(wadi).task("a", () => "of a").task("b", () => "of b");
  await wadi.submit("a", 1, { key: "k" });
  await worker.drain({ budgetMs: 5000 });
  const call = wadi.call("b", 1, { key: "k", conflict: "reuse-succeeded" });
  await expect(call).rejects.toMatchObject({ name: "AlreadyExists", taskName: "a" });
});

test("a child of a handler is refused, and the transaction of another's is not harmed", async () => {
  const wadi = memoryWadi();
  const first = await wadi.submit("a", 1, { key: "k" });
  let refused: unknown;
  const worker = new Worker(wadi).task("parent", async (context) => {
    refused = await context.submit("b", 1, { key: "k" }).catch((error: unknown) => error);
  });
  await wadi.submit("parent", null);
  await worker.drain({ budgetMs: 5000 });
  expect(refused).toMatchObject({ name: "AlreadyExists", taskId: first.id });
});

test("submit and submitMany in a transaction throw", async () => {
  const { default: Database } = await import("better-sqlite3");
  const { betterSqlite3 } = await import("../../../src/drivers/better-sqlite3.ts");
  const db = new Database(":memory:");
  const wadi = new Wadi(betterSqlite3(db));
  await wadi.submit("a", 1, { key: "k" });
  db.transaction(() => {
    const within = wadi.with(db);
    expect(() => within.submit("b", 1, { key: "k", conflict: "replace" })).toThrow(/belongs to task .*"a"/);
    expect(() => within.submitMany("b", [{ payload: 1, key: "k" }])).toThrow(/belongs to task .*"a"/);
  })();
  expect(await wadi.getByKey("k")).toMatchObject({ name: "a", status: "queued" });
});

test.each(Object.entries(nativeClients))("a batch of statements on %s is undone", async (_, open) => {
  const client = await open();
  try {
    const wadi = new Wadi(client.executor);
    const first = await wadi.submit("a", 1, { key: "k" });
    for (const conflict of CONFLICTS) {
      const { statements, id } = await wadi.statements.submit("b", 2, { key: "k", conflict });
      const names = new RegExp(`wadi:already_exists ${id} ${first.id}`);
      await expect(client.batch(statements)).rejects.toThrow(names);
    }
    const free = await wadi.statements.submit("b", 2, { key: "free" });
    await client.batch(free.statements);
    expect(await wadi.getByKey("k")).toMatchObject({ id: first.id, status: "queued" });
    expect(await wadi.list()).toHaveLength(2);
  } finally {
    await client.close();
  }
});

test("answers 409 over HTTP", async () => {
  const { call } = openFixture();
  await call("POST", "/tasks", { body: { name: "broken", payload: 1, key: "k" } });
  const answer = await call("POST", "/tasks", { body: { name: "double", payload: { n: 1 }, key: "k" } });
  expect(answer.status).toBe(409);
  expect(answer.body.error).toMatchObject({ code: "ALREADY_EXISTS", retryable: false });
  expect(answer.body.error.message).toMatch(/"broken".*"double"/);
});
