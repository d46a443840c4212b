// Which submits kick, on every database.

import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { claim } from "../../../src/core/operations/claim.ts";
import { claimWithMark } from "../../../src/core/operations/wake.ts";
import { type Kick, Wadi, type WadiOptions, Worker } from "../../../src/index.ts";
import { internalsOf } from "../../../src/producer/internals.ts";
import { ManualClock } from "../../../testing/memory.ts";
import type { OpenTarget } from "../../../testing/target.ts";
import { targets } from "../../../testing/targets.ts";

describe.each(targets)("on $name", (target) => {
  let opened: OpenTarget;
  let queue = 0;
  const clock = new ManualClock();
  const kicks: Kick[] = [];
  const wake = (kick: Kick): void => void kicks.push(kick);
  const open = (options: WadiOptions = {}) =>
    new Wadi(opened.executor, { clock: clock.read, wake, ...options });
  const rows = () => opened.executor.run({ sql: "select * from wadi_wakes order by queue", params: [] });

  beforeAll(async () => {
    opened = await target.open();
    await open().migrate();
  });
  afterAll(() => opened.close());
  beforeEach(() => {
    queue++;
    clock.advance(60_000);
    kicks.length = 0;
  });

  const on = () => ({ queue: `q${queue}` });
  const worker = (wadi: Wadi, name = "a") => new Worker(wadi, on()).task(name, () => null);

  test("submits kick once until a drain has claimed, in one round trip each", async () => {
    const wadi = open();
    const before = opened.meter().roundTrips;
    for (let i = 0; i < 5; i++) await wadi.submit("a", i, on());
    await wadi.submit("a", 5, { ...on(), key: `k${queue}` });
    await wadi.submitMany("a", [{ payload: 6, ...on() }]);
    expect(opened.meter().roundTrips - before).toBe(7);
    expect(kicks).toEqual([{ queues: [`q${queue}`], hop: 0 }]);
    expect(await worker(wadi).drain()).toMatchObject({ succeeded: 7, more: false });
    await wadi.submit("a", 8, on());
    expect(kicks).toHaveLength(2);
  });

  test("a kick that started nothing counts for 5 s", async () => {
    const wadi = open();
    await wadi.submit("a", 1, on());
    clock.advance(4900);
    await wadi.submit("a", 2, on());
    expect(kicks).toHaveLength(1);
    clock.advance(200);
    await wadi.submit("a", 3, on());
    expect(kicks).toHaveLength(2);
    clock.advance(-3_600_000);
    await wadi.submit("a", 4, on());
    expect(kicks).toHaveLength(3);
    clock.advance(3_600_000);
  });

  test("a retry kicks as a submit does, one by one and in bulk", async () => {
    const wadi = open();
    const [first] = await wadi.submitMany("a", [
      { payload: 1, ...on() },
      { payload: 2, ...on() },
    ]);
    await wadi.cancelMany(on());
    const retries = [() => wadi.retry(first!.id), () => wadi.retryMany({ ...on(), status: "canceled" })];
    for (const retry of retries) {
      clock.advance(60_000);
      kicks.length = 0;
      await retry();
      await vi.waitFor(() => expect(kicks).toEqual([{ queues: [`q${queue}`], hop: 0 }]));
    }
    await wadi.retry(first!.id); // it is queued already
    expect(kicks).toHaveLength(1);
  });

  test("tasks of a paused queue or name kick once they are resumed, and others at once", async () => {
    const wadi = open();
    const submitMany = (names: string[]) => Promise.all(names.map((name) => wadi.submit(name, 1, on())));
    await wadi.pause({ ...on(), name: "a" });
    await submitMany(["a", "a"]);
    expect(kicks).toEqual([]);
    await submitMany(["a", "b"]);
    expect(kicks).toHaveLength(1);
    await wadi.pause(on());
    clock.advance(60_000);
    await submitMany(["a", "b"]);
    await wadi.submit("b", 1, { ...on(), key: `paused${queue}` });
    expect(kicks).toHaveLength(1);
    await wadi.resume({ ...on(), name: "a" });
    await wadi.resume(on());
    await vi.waitFor(() => expect(kicks).toHaveLength(2));
  });

  test("a drain that goes on suppresses kicks for its names, and none once it has ended", async () => {
    const [wadi, other] = [open(), open()];
    await wadi.submit("a", 1, on());
    kicks.length = 0;
    await new Worker(wadi, on())
      .task("a", async ({ payload }) => {
        if (payload !== 1) return;
        await other.submit("a", 2, on());
        expect(kicks).toEqual([]);
        await other.submit("b", 3, on());
        expect(kicks).toHaveLength(1);
      })
      .drain();
    expect(await wadi.stats([`q${queue}`])).toMatchObject({ [`q${queue}`]: { succeeded: 2, queued: 1 } });
    clock.advance(5000); // the kick for b is no longer pending
    await other.submit("a", 4, on());
    expect(kicks).toHaveLength(2);
  });

  test("a drain without room for more suppresses no kick for longer than half a second", async () => {
    const wadi = open();
    const hasKicked = Promise.withResolvers<void>();
    const spilling = open({
      wake(kick) {
        kicks.push(kick);
        hasKicked.resolve();
      },
    });
    await wadi.submitMany("a", [
      { payload: 1, ...on() },
      { payload: 2, ...on() },
    ]);
    kicks.length = 0;
    const drained = new Worker(spilling, { ...on(), concurrency: 1 })
      .task("a", ({ payload }) => (payload === 1 ? hasKicked.promise : null))
      .drain();
    await hasKicked.promise;
    expect(kicks).toEqual([{ queues: [`q${queue}`], hop: 1 }]);
    expect(await drained).toMatchObject({ succeeded: 2, more: false });
  });

  test("the mark of a drain that died after its claim counts for 5 s", async () => {
    const wadi = open();
    const { session } = internalsOf(wadi);
    await wadi.submit("a", 1, on());
    const lane = { ...on(), name: "a", quota: 5 };
    const request = {
      pools: [{ lanes: [lane], limit: 5 }],
      workerId: `w${queue}`,
      leaseMs: 60_000,
      limited: false,
    };
    const mark = {
      ...request,
      owner: `o${queue}`,
      isFirst: true,
      keeps: false,
      wakes: [{ ...on(), names: ["a"] }],
    };
    const operation = claimWithMark(session.target, claim(session.target, request), mark);
    expect((await session.execute(operation))[0].tasks).toHaveLength(1);
    kicks.length = 0;
    clock.advance(4900);
    await wadi.submit("a", 2, on());
    expect(kicks).toEqual([]);
    await wadi.submit("b", 2, on());
    expect(kicks).toHaveLength(1);
    clock.advance(5200);
    await wadi.submit("a", 3, on());
    expect(kicks).toHaveLength(2);
  });

  test("a delayed task kicks only a wake that can delay, unless an earlier kick is on its way", async () => {
    await open().submit("a", 1, { ...on(), delayMs: 10_000 });
    expect(kicks).toEqual([]);
    const wadi = open({ wake: { kick: wake, canDelay: true } });
    const atMs = clock.nowMs + 8000;
    await wadi.submit("a", 2, { ...on(), runAt: new Date(atMs) });
    await wadi.submit("a", 3, { ...on(), delayMs: 9000 });
    expect(kicks).toEqual([{ queues: [`q${queue}`], hop: 0, atMs }]);
    clock.advance(8000);
    expect(await worker(wadi).drain()).toMatchObject({ succeeded: 1 });
    expect(kicks.slice(1)).toEqual([{ queues: [`q${queue}`], hop: 0, atMs: atMs + 1000 }]);
    expect(await worker(wadi).drain()).toMatchObject({ claimed: 0, roundTrips: 1 });
  });

  test("drains that end no task kick each other 10 times, until one ends a task", async () => {
    const [wadi] = [open()];
    const idle = () =>
      new Worker(wadi, on()).task("a", () => null).drain({ maxQueries: 10, signal: stopped });
    const stopped = AbortSignal.abort();
    await wadi.submit("a", 1, on());
    for (let i = 0; i < 13; i++) {
      clock.advance(6000);
      await idle();
    }
    expect(kicks.map(({ hop }) => hop)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    await wadi.submit("a", 2, on());
    await idle();
    expect(kicks.map(({ hop }) => hop).slice(11)).toEqual([0]);
    await worker(wadi).drain();
    await wadi.submit("a", 3, on());
    await idle();
    expect(kicks.map(({ hop }) => hop).slice(12)).toEqual([0, 1]);
  });

  test("an empty drain is one round trip, and writes nothing while no mark is set", async () => {
    const wadi = open();
    await worker(wadi).drain();
    const [before, cost] = [await rows(), opened.meter()];
    expect(await worker(wadi).drain()).toMatchObject({ roundTrips: 1 });
    const after = opened.meter();
    expect(after.roundTrips - cost.roundTrips).toBe(1);
    if (cost.rowsWritten !== null) expect(after.rowsWritten).toBe(cost.rowsWritten);
    expect(await rows()).toEqual(before);
  });
});
