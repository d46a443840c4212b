// A drain with a hint asks the database only when there may be something to do, on each kind of database.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DrainSummary, hintInMemory, Wadi, Worker } from "../../../src/index.ts";
import { internalsOf } from "../../../src/producer/internals.ts";
import { interceptOperations } from "../../../testing/intercept.ts";
import type { OpenTarget } from "../../../testing/target.ts";
import { pickTargets } from "../../../testing/targets.ts";
import { asked, cellsOf, idle, MINUTE_MS, setup, until } from "./setup.ts";

async function trips(drains: Promise<DrainSummary>[]): Promise<number[]> {
  return (await Promise.all(drains)).map(({ roundTrips }) => roundTrips);
}

describe.each(pickTargets(["better-sqlite3-memory", "libsql-http", "d1", "pg", "neon-http"]))(
  "on $name",
  (target) => {
    let opened: OpenTarget;
    beforeAll(async () => {
      opened = await target.open();
      await new Wadi(opened.executor).migrate();
    });
    afterAll(() => opened.close());

    test("an idle tick asks the database once in maxAgeMs, and after each change", async () => {
      const { wadi, worker, tick, clock } = setup(
        hintInMemory(),
        (options) => new Wadi(opened.executor, options),
      );
      const before = opened.meter().roundTrips;
      expect(await tick(worker())).toMatchObject({ ...asked, nextDueAtMs: null });
      for (let i = 0; i < 59; i++) expect(await tick(worker())).toMatchObject({ ...idle, nextDueAtMs: null });
      expect(await tick(worker())).toMatchObject(asked);
      expect(opened.meter().roundTrips - before).toBe(2);

      await wadi.submit("a", null);
      expect(await tick(worker())).toMatchObject({ succeeded: 1 });
      await wadi.submit("a", null, { delayMs: 10 * MINUTE_MS });
      const dueAtMs = clock.nowMs + 10 * MINUTE_MS;
      expect(await tick(worker())).toMatchObject({ ...asked, nextDueAtMs: dueAtMs });
      for (let i = 0; i < 8; i++)
        expect(await tick(worker())).toMatchObject({ ...idle, nextDueAtMs: dueAtMs });
      expect(await tick(worker())).toMatchObject({ succeeded: 1 });
      expect(await tick(worker())).toMatchObject(idle);
    });
  },
);

test("a drain does not hide a submit that was committed after its claim", async () => {
  const { wadi, worker, tick, clock, hint } = setup();
  await tick(worker());
  await wadi.submit("b", null); // changes the hint, so that the next tick asks
  // Of another process: a drain of the same one would be notified, and claim again.
  const producer = new Wadi(wadi.executor, { clock: clock.read, hint, database: "elsewhere" });
  let isSubmitted = false;
  interceptOperations(wadi, "settleAndClaim", async (send) => {
    const claimed = await send();
    if (!isSubmitted) {
      isSubmitted = true;
      await producer.submit("a", null);
    }
    return claimed;
  });
  expect(await tick(worker())).toMatchObject({ claimed: 0 });
  expect(isSubmitted).toBe(true);
  expect(await tick(worker())).toMatchObject({ succeeded: 1 });
});

test("a drain that ends late does not replace what a later claim found", async () => {
  const { wadi, worker, tick, hint } = setup();
  await wadi.submit("a", null, { delayMs: 30 * MINUTE_MS });
  const found = await tick(worker());
  const [cell] = await cellsOf(worker());
  const later = JSON.parse((await hint.get(cell!))!);
  const { hint: cells } = internalsOf(wadi);
  const handlers = cell!.split(":")[1]!;
  await cells!.write(handlers, { ...later, atMs: later.atMs - 1, nextDueAtMs: null });
  expect(await tick(worker())).toMatchObject({ ...idle, nextDueAtMs: found.nextDueAtMs });
});

test("a task whose drain was killed is found when its lease ends, whatever the hint said", async () => {
  for (const isHinted of [true, false]) {
    const { wadi, worker, tick, clock, hint } = setup();
    await tick(worker());
    const producer = isHinted ? wadi : new Wadi(wadi.executor, { clock: clock.read });
    await producer.submit("a", null);
    // Another process: its hint is never written again.
    const frozen = { ...hint, set: () => {} };
    const options = isHinted ? {} : { hop: 0 };
    const gone = new Worker(new Wadi(wadi.executor, { clock: clock.read, hint: isHinted ? frozen : hint }), {
      leaseMs: 20 * MINUTE_MS,
    }).task("a", () => new Promise(() => {}));
    void gone.drain({ ...options, budgetMs: 25 * MINUTE_MS });
    await until(async () => (await wadi.list({ status: "running" })).length === 1);
    const { nextDueAtMs, roundTrips } = await tick(worker());
    expect(roundTrips).toBe(1);
    const leaseEndsMs = (await wadi.list({ status: "running" }))[0]!.leaseUntilMs;
    expect(nextDueAtMs).toBe(leaseEndsMs);
    while (clock.nowMs + MINUTE_MS < leaseEndsMs!) expect(await tick(worker())).toMatchObject(idle);
    expect(await tick(worker())).toMatchObject({ recovered: 1 });
  }
});

test("a kick drains whatever the hint says, as does useHint: false", async () => {
  const { wadi, worker, tick, clock } = setup();
  await tick(worker());
  const unhinted = new Wadi(wadi.executor, { clock: clock.read });
  await unhinted.submit("a", 1);
  expect(await tick(worker())).toMatchObject(idle);
  expect(await worker().drain({ hop: 0 })).toMatchObject({ succeeded: 1 });
  await unhinted.submit("a", 2);
  expect(await worker().drain({ useHint: false })).toMatchObject({ succeeded: 1 });
  await unhinted.submit("a", 3);
  expect(await worker().drain({ trigger: "alarm" })).toMatchObject({ succeeded: 1 });
  expect(await worker().drain({ hop: 0, useHint: true })).toMatchObject({ roundTrips: 1 }); // both left a doubt
  expect(await worker().drain({ hop: 0, useHint: true })).toMatchObject(idle);
});

test("retries, limits, pauses and expiries count as in nextDueAtMs", async () => {
  const { wadi, tick, clock } = setup();
  let fails = true;
  const worker = new Worker(wadi, {
    logger: null,
    backoff: { baseMs: 10 * MINUTE_MS, capMs: 10 * MINUTE_MS },
  });
  worker.task("a", () => {
    if (fails) throw new Error("once");
  });
  await wadi.submit("a", null);
  const { retried, nextDueAtMs } = await tick(worker);
  expect(retried).toBe(1);
  fails = false;
  while (clock.nowMs + MINUTE_MS < nextDueAtMs!) expect(await tick(worker)).toMatchObject(idle);
  expect(await tick(worker)).toMatchObject({ succeeded: 1 });

  const limits = { key: "k", rate: { count: 1, perMs: 20 * MINUTE_MS } };
  await wadi.submitMany("a", [
    { payload: 1, limits },
    { payload: 2, limits },
  ]);
  expect(await tick(worker)).toMatchObject({ succeeded: 1 });
  const startedAtMs = clock.nowMs;
  while (clock.nowMs + MINUTE_MS < startedAtMs + 20 * MINUTE_MS) {
    const summary = await tick(worker);
    if (clock.nowMs > startedAtMs + 2 * MINUTE_MS) expect(summary).toMatchObject(idle);
  }
  expect(await tick(worker)).toMatchObject({ succeeded: 1 });

  await wadi.pause({ queue: "default" });
  await wadi.submit("a", null, { expiresInMs: 5 * MINUTE_MS });
  await tick(worker);
  expect(
    (await trips(Array.from({ length: 9 }, () => tick(worker)))).reduce((sum, n) => sum + n),
  ).toBeLessThanOrEqual(2);
});
