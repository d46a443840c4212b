// Schedules in code: groups, revisions, payloads that are functions, and when they are stored.

import Database from "better-sqlite3";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { betterSqlite3 } from "../../src/drivers/better-sqlite3.ts";
import {
  defineSchedule,
  defineTask,
  type ErrorContext,
  type Schedule,
  Wadi,
  Worker,
  type WorkerOptions,
} from "../../src/index.ts";
import { sentOperations } from "../../testing/sent-operations.ts";

const START = Date.parse("2026-11-30T08:30:00Z");
const HOUR = 3_600_000;
const hourly = (name: string, more: Partial<Schedule> = {}): Schedule => ({
  ...{ name, task: "work", cron: "0 * * * *" },
  ...more,
});

let nowMs: number;
let wadi: Wadi;

beforeEach(() => {
  nowMs = START;
  wadi = new Wadi(betterSqlite3(new Database(":memory:")), { clock: () => nowMs });
});

/** A worker of a new process. */
const deploy = (options: WorkerOptions) => new Worker(wadi, options).task("work", () => null);
const names = async () => (await wadi.schedules.list()).map(({ group, name }) => `${group}/${name}`);
const keys = async () => (await wadi.list({ name: "work" })).map(({ payload }) => payload);

describe("the schedules of a worker", () => {
  test("are stored at its first claim: added, changed and removed, and seen to be the same at the next", async () => {
    await deploy({ schedules: [hourly("a"), hourly("b")] }).drain();
    expect(await names()).toEqual(["default/a", "default/b"]);
    await deploy({ schedules: [hourly("b", { cron: "15 * * * *" }), hourly("c")] }).drain();
    expect(await names()).toEqual(["default/b", "default/c"]);
    expect((await wadi.schedules.list())[0]).toMatchObject({
      cron: "15 * * * *",
      nextAtMs: START + 0.75 * HOUR,
    });
    const sent = sentOperations(wadi);
    await deploy({ schedules: [hourly("b", { cron: "15 * * * *" }), hourly("c")] }).drain();
    expect(sent).toEqual(["settleAndClaim"]);
    await deploy({ schedules: [] }).drain();
    expect(await names()).toEqual([]);
  });

  test("keep their next slot if only the payload changes, so that a deployment misses none", async () => {
    await deploy({ schedules: [hourly("a")] }).drain();
    nowMs += HOUR;
    await deploy({ schedules: [hourly("a", { payload: "new" })] }).drain();
    expect(await keys()).toEqual(["new"]);
  });

  test("of two services with a group each are left alone by the other, which fires them all the same", async () => {
    await deploy({ schedules: [hourly("a", { payload: "mail" })], scheduleGroup: "mail" }).drain();
    await deploy({ schedules: [hourly("a", { payload: "shop" })], scheduleGroup: "shop" }).drain();
    await deploy({ schedules: [hourly("a", { payload: "mail 2" })], scheduleGroup: "mail" }).drain();
    expect(await names()).toEqual(["mail/a", "shop/a"]);
    nowMs += HOUR;
    await deploy({ schedules: [hourly("a", { payload: "shop" })], scheduleGroup: "shop" }).drain();
    expect((await keys()).sort()).toEqual(["mail 2", "shop"]);
  });

  test("of an old deployment that drains after a new one never replace those of the higher revision", async () => {
    const old = { schedules: [hourly("a", { payload: "old" }), hourly("gone")], scheduleRevision: 7 };
    const resident = deploy(old);
    await resident.drain();
    await deploy({ schedules: [hourly("a", { payload: "new" })], scheduleRevision: 8 }).drain();
    await resident.drain();
    await deploy(old).drain();
    expect(await names()).toEqual(["default/a"]);
    nowMs += HOUR;
    await deploy(old).drain();
    expect(await keys()).toEqual(["new"]);
    // Of equal revisions the worker that started last decides; one that runs does not store its own again.
    const [first, second] = ["first", "second"].map((payload) =>
      deploy({ schedules: [hourly(payload)], scheduleRevision: 9 }),
    );
    await first!.drain();
    await second!.drain();
    await first!.drain();
    expect(await names()).toEqual(["default/second"]);
  });

  test("are paused by their definition, by an operator and not by the next deployment", async () => {
    await deploy({ schedules: [hourly("a", { paused: true }), hourly("b")] }).drain();
    await wadi.schedules.pause("b");
    nowMs += 2 * HOUR;
    await deploy({ schedules: [hourly("a"), hourly("b")] }).drain();
    expect(await wadi.schedules.list()).toMatchObject([
      { name: "a", pausedAtMs: null, nextAtMs: nowMs + HOUR / 2 },
      { name: "b", pausedBy: "operator" },
    ]);
    expect(await keys()).toEqual([]);
  });

  test("cannot be set or removed from outside", async () => {
    await deploy({ schedules: [hourly("a")] }).drain();
    await expect(wadi.schedules.set(hourly("a"))).rejects.toThrow(
      /"a" of group "default" is defined in code/,
    );
    await expect(wadi.schedules.remove("a")).rejects.toThrow(/is defined in code/);
    expect(await wadi.schedules.set(hourly("a"), { group: "other" })).toMatchObject({ source: "stored" });
  });

  test("are refused with the name of the schedule and what is wrong", () => {
    const wrong = (schedule: object) => () => new Worker(wadi, { schedules: [schedule as Schedule] });
    expect(wrong(hourly("a", { cron: "0 25 * * *" }))).toThrow('schedule "a": cron has a wrong hour');
    expect(wrong(hourly("a", { timeZone: "Mars/X" }))).toThrow(
      'schedule "a": timeZone must be an IANA time zone',
    );
    expect(wrong(hourly("a", { everyMs: 5000 }))).toThrow("either cron or everyMs");
    expect(wrong(hourly("a", { missed: "all" }))).toThrow('max and missed "all" go together');
    expect(wrong(hourly("a", { missed: "all", max: 5, overlap: "skip" }))).toThrow(
      'goes with overlap "allow" only',
    );
    expect(wrong({ name: "a", cron: "0 * * * *" })).toThrow(
      "task must be a name or the result of defineTask",
    );
    expect(wrong({ ...hourly("a"), crom: 1 })).toThrow('has no option "crom"');
    expect(() => deploy({ schedules: [hourly("a"), hourly("a")] })).toThrow(
      'two schedules with the name "a"',
    );
    expect(() => deploy({ scheduleGroup: "a" })).toThrow("need schedules");
  });
});

describe("a payload that is a function", () => {
  const work = defineTask<{ from: string | null; to: string }>({ name: "work" });
  const dynamic = defineSchedule({
    name: "dynamic",
    task: work,
    cron: "0 * * * *",
    missed: "all",
    max: 10,
    payload: ({ slot, previousSlot }) => ({
      from: previousSlot?.toISOString() ?? null,
      to: slot.toISOString(),
    }),
  });

  test("gets the slot and the one before it, also of slots that were missed", async () => {
    const worker = deploy({ schedules: [dynamic] });
    await worker.drain();
    nowMs += HOUR;
    await worker.drain();
    nowMs += 2 * HOUR;
    await worker.drain();
    const hour = (n: number) => `2026-11-30T${String(n).padStart(2, "0")}:00:00.000Z`;
    expect((await keys()).reverse()).toEqual([
      { from: null, to: hour(9) },
      { from: hour(9), to: hour(10) },
      { from: hour(10), to: hour(11) },
    ]);
  });

  test("runs only in a worker that has it, and no other one spins on its slot", async () => {
    await deploy({ schedules: [dynamic], scheduleRevision: 2 }).drain();
    nowMs += HOUR;
    for (const options of [
      {},
      { schedules: [], scheduleGroup: "other" },
      { schedules: [dynamic] },
    ] as const) {
      const summary = await deploy(options).drain();
      expect(summary).toMatchObject({ claimed: 0, more: false });
      expect(summary.roundTrips).toBeLessThan(3);
    }
    expect(await deploy({ schedules: [dynamic], scheduleRevision: 2 }).drain()).toMatchObject({ claimed: 1 });
  });

  test("that throws is reported, leaves the slot to another worker, and holds up no other schedule", async () => {
    const errors: unknown[][] = [];
    let fails = true;
    const flaky = defineSchedule({
      ...hourly("flaky"),
      payload: () => {
        if (fails) throw new Error("no data yet");
        return "late";
      },
    });
    const options = {
      schedules: [flaky, hourly("b", { payload: "b" })],
      onError: (error: unknown, { schedule }: ErrorContext) => errors.push([String(error), schedule]),
    };
    await deploy(options).drain();
    nowMs += HOUR;
    expect(await deploy(options).drain()).toMatchObject({
      ...{ claimed: 1, more: false },
      nextDueAtMs: nowMs + 60_000, // an alarm or a hint tries again
    });
    expect(errors).toEqual([["Error: no data yet", "flaky"]]);
    const warn = vi.fn();
    await deploy({ schedules: [flaky], logger: { warn, error: warn } }).drain();
    expect(warn.mock.calls).toEqual([
      ['wadi: the schedule "flaky" was not fired, and a later drain tries again: Error: no data yet'],
    ]);
    fails = false;
    expect(await deploy(options).drain()).toMatchObject({ claimed: 1 });
    expect((await keys()).sort()).toEqual(["b", "late"]);
  });
});

test("a task of a queue that the drain does not serve kicks a drain of that queue", async () => {
  const kicks: (readonly string[])[] = [];
  const waking = new Wadi(betterSqlite3(new Database(":memory:")), {
    clock: () => nowMs,
    wake: ({ queues }) => void kicks.push(queues),
  });
  const schedules = ["mail", "default"].map((queue) => hourly(queue, { options: { queue } }));
  const worker = new Worker(waking, { schedules }).task("work", () => null);
  await worker.drain();
  nowMs += HOUR;
  expect(await worker.drain()).toMatchObject({ claimed: 1, more: false });
  await expect.poll(() => kicks).toEqual([["mail"]]);
});

test("a worker that runs on fires the slot when it is due, without a tick", async () => {
  const live = new Wadi(betterSqlite3(new Database(":memory:")));
  const ran: number[] = [];
  const worker = new Worker(live, {
    schedules: [{ name: "s", task: "work", everyMs: 1000 }],
    pollMs: 60_000,
  });
  worker.task("work", ({ payload }) => void ran.push(payload === null ? 0 : Date.now()));
  const running = worker.run();
  await expect.poll(() => ran.length, { timeout: 10_000 }).toBeGreaterThan(1);
  await worker.stop();
  await running;
  const late = ran.slice(1).map((ms) => ms % 1000);
  expect(Math.max(...late)).toBeLessThan(900);
});
