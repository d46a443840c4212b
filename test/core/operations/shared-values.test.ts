// Values are stored in the form that all SDKs share.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Wadi, Worker } from "../../../src/index.ts";
import { storeOf } from "../../../testing/store.ts";
import type { OpenTarget } from "../../../testing/target.ts";
import { pickTargets } from "../../../testing/targets.ts";

/** What is left out is stored as other SDKs store it and expect to find it. */
describe.each(pickTargets(["better-sqlite3-memory", "pg"]))("on $name", (target) => {
  let open: OpenTarget;
  let wadi: Wadi;

  beforeAll(async () => {
    open = await target.open();
    wadi = new Wadi(open.executor);
  });

  afterAll(() => open?.close());

  const column = async (name: string, id: string) => {
    const [row] = await open.executor.run({
      sql: `select ${name} from cairnq_tasks where id = '${id}'`,
      params: [],
    });
    return JSON.parse(String(row![name]));
  };

  test("a submit without a payload stores an empty object, by every way", async () => {
    const many = await wadi.submitMany("none", [{ payload: undefined }, { payload: undefined, key: "many" }]);
    const tasks = [
      await wadi.submit("none", undefined),
      await wadi.submit("none", undefined, { key: "k" }),
      ...many,
    ];
    for (const { id, payload } of tasks) {
      expect(payload).toEqual({});
      expect(await column("payload", id)).toEqual({});
    }
    const got: unknown[] = [];
    await new Worker(wadi).task("none", ({ payload }) => got.push(payload)).drain();
    expect(got).toEqual([{}, {}, {}, {}]);
  });

  test("a payload that is null stays null", async () => {
    const { id } = await wadi.submit("null", null);
    expect(await column("payload", id)).toBeNull();
  });

  test("a limits key is made from the payload that the handler gets", async () => {
    const seen: unknown[] = [];
    const key = (payload: unknown) => {
      seen.push(payload);
      return "one";
    };
    await wadi
      .submit("limited", undefined, { limits: { key: key as never, concurrency: 1 } })
      .catch(() => {});
    expect(seen.every((payload) => JSON.stringify(payload) === "{}")).toBe(true);
  });

  test("an envelope without details has an empty object there", async () => {
    const failing = new Worker(wadi).task("fails", (c) => c.fail("no", { retryable: false }));
    const { id } = await wadi.submit("fails", 1);
    await failing.drain();
    expect((await column("error", id)).details).toEqual({});
    for (const [name, options] of [
      ["expires", { maxAttempts: 1 }],
      ["crashes", { maxCrashes: 1 }],
    ] as const) {
      const { id } = await wadi.submit(name, 1, options);
      const lanes = [{ queue: "default", name, quota: 1 }];
      await storeOf(wadi).claim({
        pools: [{ lanes, limit: 1 }],
        workerId: "w:1",
        leaseMs: 60_000,
        limited: false,
      });
      await open.executor.run({
        sql: "update cairnq_tasks set lease_until_ms = 1 where status = 'running'",
        params: [],
      });
      await new Worker(wadi).task("idle", () => 1).drain();
      expect((await column("error", id)).details).toEqual({});
    }
  });

  test("a task that succeeded has no error, even if another SDK wrote one", async () => {
    const theirs = await wadi.submit("theirs", 1);
    const ours = await wadi.submit("ours", 1);
    const error = `{"type":"E","code":"e","message":"first","retryable":true,"details":{}}`;
    await open.executor.run({
      sql: `update cairnq_tasks set error = '${error}' where name in ('theirs', 'ours')`,
      params: [],
    });
    await new Worker(wadi).task("ours", () => 1).drain();
    expect(await column("error", ours.id)).toBeNull();
    // Their completion leaves the error of an earlier attempt in the row.
    await open.executor.run({
      sql: "update cairnq_tasks set status = 'succeeded', result = '1', completed_at_ms = 1 where name = 'theirs'",
      params: [],
    });
    for (const { id } of [ours, theirs])
      expect(await wadi.get(id)).toMatchObject({ status: "succeeded", error: null });
  });
});
