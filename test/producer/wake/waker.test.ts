// How kicks are sent: together, in the background, after a commit, and again after a lost answer.

import Database from "better-sqlite3";
import { afterEach, expect, test, vi } from "vitest";
import { betterSqlite3 } from "../../../src/drivers/better-sqlite3.ts";
import {
  type Kick,
  Wadi,
  Worker,
  wakeByDurableObject,
  wakeByQueue,
  wakeInProcess,
} from "../../../src/index.ts";
import { lossy } from "../../../testing/lossy-executor.ts";
import { memoryWadi } from "../../../testing/memory.ts";
import { until } from "../../../testing/until.ts";

const CONTEXT = Symbol.for("@vercel/request-context");

afterEach(() => {
  delete (globalThis as { [CONTEXT]?: unknown })[CONTEXT];
});

test("a kick is a part of the invocation: by the option waitUntil, or by what Vercel provides", async () => {
  for (const way of ["option", "vercel"]) {
    const background: Promise<unknown>[] = [];
    const waitUntil = (promise: Promise<unknown>) => void background.push(promise);
    if (way === "vercel") Object.assign(globalThis, { [CONTEXT]: { get: () => ({ waitUntil }) } });
    const sent = Promise.withResolvers<void>();
    const options = { wake: () => sent.promise, ...(way === "option" && { waitUntil }) };
    await memoryWadi(options).submit("a", 1);
    expect(background).toHaveLength(1);
    let isOver = false;
    void background[0]!.then(() => {
      isOver = true;
    });
    await new Promise(setImmediate);
    expect(isOver).toBe(false);
    sent.resolve();
    await background[0];
  }
});

test("a wake that throws or rejects is reported, and so is a waitUntil that throws; no submit fails", async () => {
  const errors: unknown[] = [];
  const onError = (error: unknown) => {
    errors.push(error);
    throw new Error("of the hook");
  };
  const rejects = async () => {
    throw new Error("rejected");
  };
  const throws = () => {
    throw new Error("thrown");
  };
  await memoryWadi({ wake: rejects, onError }).submit("a", 1);
  await memoryWadi({ wake: throws, onError }).submit("a", 1);
  await memoryWadi({ wake: () => {}, waitUntil: throws, onError }).submit("a", 1);
  await until(() => errors.length === 3);
  expect(errors.map((error) => (error as Error).message).sort()).toEqual(["rejected", "thrown", "thrown"]);
});

test("kicks that are asked for while one is in flight are sent as one after it", async () => {
  const kicks: Kick[] = [];
  const first = Promise.withResolvers<void>();
  const wadi = memoryWadi({ wake: (kick) => (kicks.push(kick) === 1 ? first.promise : undefined) });
  for (const queue of ["a", "b", "c"]) await wadi.submit("a", 1, { queue });
  expect(kicks).toEqual([{ queues: ["a"], hop: 0 }]);
  first.resolve();
  await until(() => kicks.length === 2);
  expect(kicks[1]).toEqual({ queues: ["b", "c"], hop: 0 });
});

test("a transaction kicks only when the application says that it is committed", async () => {
  const db = new Database(":memory:");
  const kicks: Kick[] = [];
  const wadi = new Wadi(betterSqlite3(db), { wake: (kick) => void kicks.push(kick) });
  await wadi.migrate();
  const rolledBack = db.transaction(() => {
    wadi.with(db).submit("a", 1);
    throw new Error("rolled back");
  });
  expect(rolledBack).toThrow("rolled back");
  const answers = db.transaction(() => [
    wadi.with(db).submit("a", 2),
    wadi.with(db).submitMany("b", [{ payload: 3 }]),
  ])();
  await new Promise(setImmediate);
  expect(kicks).toEqual([]);
  for (const { kick } of answers) await kick();
  expect(kicks).toEqual([{ queues: ["default"], hop: 0 }]);
  expect(JSON.parse(JSON.stringify(answers[0]))).not.toHaveProperty("kick");
  const without = new Wadi(betterSqlite3(db));
  await db
    .transaction(() => without.with(db).submit("a", 4))()
    .kick();
});

test("a submit whose answer is lost kicks, though the lost try has marked the kick", async () => {
  const kicks: Kick[] = [];
  const { executor } = memoryWadi();
  await new Wadi(executor).migrate();
  const wadi = new Wadi(
    lossy(executor, (request) => (request === 1 ? "after" : null)),
    {
      wake: (kick) => void kicks.push(kick),
      requestRetry: { baseMs: 1 },
    },
  );
  await wadi.submit("a", 1);
  expect(await wadi.queueDepth("default")).toBe(1);
  await until(() => kicks.length === 1);
});

test("a lost kick is caught by the next drain, which also kicks for what it leaves", async () => {
  const kicks: Kick[] = [];
  const wadi = memoryWadi({ wake: (kick) => void kicks.push(kick) });
  await wadi.submitMany("a", [{ payload: 1 }, { payload: 2 }, { payload: 3 }]);
  const worker = new Worker(wadi, { concurrency: 1 }).task("a", () => null);
  expect(await worker.drain({ maxTasks: 2 })).toMatchObject({ succeeded: 2, more: true });
  expect(kicks.slice(1)).toEqual([{ queues: ["default"], hop: 1 }]);
  expect(await worker.drain({ hop: 1 })).toMatchObject({ succeeded: 1, more: false });
  expect(kicks).toHaveLength(2);
});

test("drains in the process run one at a time, and nothing is left when the last has ended", async () => {
  const background: Promise<unknown>[] = [];
  let [running, most] = [0, 0];
  const wadi: Wadi = memoryWadi({
    waitUntil: (promise) => void background.push(promise),
    wake: wakeInProcess({
      async drain(options) {
        most = Math.max(most, ++running);
        await worker.drain({ ...options, maxTasks: 3 });
        running--;
      },
    }),
  });
  const worker = new Worker(wadi).task("a", () => null);
  await wadi.submitMany("a", Array(10).fill({ payload: 1 }));
  for (let i = 0; i < background.length; i++) await background[i];
  expect(await wadi.queueDepth("default")).toBe(0);
  expect(most).toBe(1);
});

test("an alarm that is set for an earlier time stays, and a message is delayed by at most 12 hours", async () => {
  let alarm: number | null = null;
  const storage = {
    getAlarm: async () => alarm,
    setAlarm: async (atMs: number) => {
      alarm = atMs;
    },
  };
  const { kick } = wakeByDurableObject(storage);
  for (const atMs of [5000, 6000, 4000]) await kick({ queues: ["a"], hop: 0, atMs });
  expect(alarm).toBe(4000);
  const send = vi.fn(async () => {});
  const queue = wakeByQueue({ send });
  const kicks = [{}, { atMs: Date.now() + 1500 }, { atMs: Date.now() + 1e9 }].map((at) => ({
    queues: [],
    hop: 0,
    ...at,
  }));
  for (const one of kicks) await queue.kick(one);
  expect(send.mock.calls).toEqual([
    [kicks[0]],
    [kicks[1], { delaySeconds: 2 }],
    [kicks[2], { delaySeconds: 43_200 }],
  ]);
});

test("wrong options are refused when the Wadi or the wake is made", () => {
  expect(() => memoryWadi({ wake: {} as never })).toThrow("wake must be a function");
  expect(() => memoryWadi({ waitUntil: 1 as never })).toThrow("waitUntil must be a function");
  expect(() => memoryWadi({ onError: 1 as never })).toThrow("onError must be a function");
  expect(() => wakeInProcess({} as never)).toThrow("wakeInProcess takes a Worker");
  expect(() => wakeByQueue({} as never)).toThrow("wakeByQueue takes a queue");
  expect(() => wakeByDurableObject({} as never)).toThrow("wakeByDurableObject takes the stub");
});
