// Schedules on every kind of database: each slot gets one task, whatever the ticks and the answers do.

import { afterEach, describe, expect, test } from "vitest";
import { type Schedule, Wadi, Worker, type WorkerOptions } from "../../src/index.ts";
import { interceptOperations } from "../../testing/intercept.ts";
import { lossy } from "../../testing/lossy-executor.ts";
import type { OpenTarget } from "../../testing/target.ts";
import { pickTargets } from "../../testing/targets.ts";

const START = Date.parse("2026-11-30T08:30:00Z");
const HOUR = 3_600_000;
const HOURLY: Schedule = { name: "report", task: "report", cron: "0 * * * *", payload: { to: "all" } };

describe.each(pickTargets(["better-sqlite3-memory", "libsql-http", "d1", "pg", "neon-http"]))(
  "$name",
  (target) => {
    let open: OpenTarget;
    let nowMs = START;
    const clock = () => nowMs;
    afterEach(() => open.close());

    async function start(): Promise<Wadi> {
      open = await target.open();
      nowMs = START;
      const wadi = new Wadi(open.executor, { clock });
      await wadi.migrate();
      await wadi.getStatus("none");
      return wadi;
    }

    const workerOf = (wadi: Wadi, options: WorkerOptions = {}) =>
      new Worker(wadi, options).task("report", () => 1);

    /** The slots that got a task, in their order. */
    async function slots(wadi: Wadi): Promise<string[]> {
      const tasks = await wadi.list({ name: "report", limit: 100 });
      return tasks.map(({ runAtMs }) => new Date(runAtMs).toISOString().slice(11, 16)).sort();
    }

    test("two drains at a time, late and doubled, queue one task a slot", async () => {
      const wadi = await start();
      const other = new Wadi(await open.connect(), { clock });
      const workers = [workerOf(wadi, { schedules: [HOURLY] }), workerOf(other, { schedules: [HOURLY] })];
      const tick = () => Promise.all(workers.map((worker) => worker.drain()));
      await tick();
      for (let hour = 0; hour < 3; hour++) {
        nowMs += HOUR;
        await tick();
        await tick();
      }
      expect(await slots(wadi)).toEqual(["09:00", "10:00", "11:00"]);
      expect((await wadi.stats()).default).toMatchObject({ succeeded: 3, queued: 0, running: 0 });
      // One that is purged does not come again.
      nowMs += 1;
      expect(await wadi.purge({ olderThanMs: 0 })).toBe(3);
      await tick();
      expect(await slots(wadi)).toEqual([]);
    });

    test("a purged slot does not come again from a drain that is late, and sends twice", async () => {
      const wadi = await start();
      const other = new Wadi(await open.connect(), { clock });
      await workerOf(wadi, { schedules: [HOURLY] }).drain();
      nowMs += HOUR;
      // The late drain has seen that the slot is due when the other one fires it.
      let trips = 0;
      interceptOperations(other, "settleAndClaim", async (send) => {
        if (++trips !== 2) return send();
        await workerOf(wadi).drain();
        nowMs += 1;
        expect(await wadi.purge({ olderThanMs: 0 })).toBe(1);
        await send();
        return send();
      });
      expect(await workerOf(other).drain()).toMatchObject({ claimed: 0 });
      expect(trips).toBeGreaterThanOrEqual(2);
      expect(await slots(wadi)).toEqual([]);
    });

    test("their tasks have limits, an expiry and onFailed as those of a submit, and mind a pause", async () => {
      const wadi = await start();
      const limits = { key: "api", concurrency: 1 };
      const options = { limits, expiresInMs: HOUR / 4, onFailed: "alert", maxAttempts: 1, priority: 7 };
      const names = ["a", "b"];
      const schedules = names.map((name) => ({ ...HOURLY, name, payload: name, options, jitterMs: 1000 }));
      let most = 0;
      let running = 0;
      const worker = new Worker(wadi, { schedules, logger: null })
        .task("report", async () => {
          most = Math.max(most, ++running);
          await new Promise((resolve) => setTimeout(resolve, 5));
          running--;
          throw new Error("no");
        })
        .task("alert", () => null);
      await worker.drain();
      nowMs += HOUR / 2;
      expect(await worker.drain()).toMatchObject({ claimed: 0, nextDueAtMs: expect.any(Number) });
      nowMs += 1000;
      await worker.drain();
      expect(most).toBe(1);
      const failed = await wadi.list({ name: "report", status: "failed" });
      expect(failed.map(({ priority, expiresAtMs, runAtMs }) => [priority, expiresAtMs! - runAtMs])).toEqual([
        [7, HOUR / 4],
        [7, HOUR / 4],
      ]);
      expect(await wadi.list({ name: "alert" })).toHaveLength(2);
      await open.executor.run({ sql: "insert into wadi_pauses values ('default', 'report', 0)", params: [] });
      nowMs = START + 1.5 * HOUR;
      expect(await worker.drain()).toMatchObject({ claimed: 0, more: false });
      expect((await wadi.list({ name: "report", status: "queued" })).length).toBe(2);
      nowMs += HOUR / 2;
      expect(await worker.drain()).toMatchObject({ more: false });
      expect((await wadi.list({ name: "report", status: "canceled" })).length).toBe(2);
    });

    test("answers are lost after the commit, and each slot still gets one task", async () => {
      const wadi = await start();
      let lose = false;
      const executor = lossy(open.executor, (request) => (lose && request % 3 === 0 ? "after" : null));
      const retry = { tries: 10, baseMs: 1, capMs: 2 };
      const worker = workerOf(new Wadi(executor, { clock, requestRetry: retry }), { schedules: [HOURLY] });
      await worker.drain();
      lose = true;
      for (let hour = 0; hour < 3; hour++) {
        nowMs += HOUR;
        await worker.drain();
      }
      expect(await slots(wadi)).toEqual(["09:00", "10:00", "11:00"]);
      expect((await wadi.stats()).default).toMatchObject({ succeeded: 3, queued: 0, running: 0 });
    });

    test("an idle tick with schedules is one round trip and writes nothing", async () => {
      const wadi = await start();
      await workerOf(wadi, { schedules: [HOURLY] }).drain();
      const before = { ...open.meter() };
      // A new process, as of an invocation.
      const idle = await workerOf(wadi, { schedules: [HOURLY] }).drain();
      expect(idle).toMatchObject({ roundTrips: 1, more: false, nextDueAtMs: START + HOUR / 2 });
      const after = open.meter();
      expect(after.roundTrips - before.roundTrips).toBe(1);
      if (after.rowsWritten !== null) expect(after.rowsWritten - before.rowsWritten!).toBe(0);
    });

    test("an overlapping task is skipped, replaced or joined, as the schedule says", async () => {
      const wadi = await start();
      const overlaps = ["allow", "skip", "replace"] as const;
      const schedules = overlaps.map((overlap) => ({ ...HOURLY, name: overlap, task: overlap, overlap }));
      const worker = workerOf(wadi, { schedules });
      await worker.drain();
      for (let hour = 0; hour < 3; hour++) {
        nowMs += HOUR;
        await worker.drain();
      }
      const statuses = async (name: string) => (await wadi.list({ name })).map(({ status }) => status).sort();
      expect(await statuses("allow")).toEqual(["queued", "queued", "queued"]);
      expect(await statuses("skip")).toEqual(["queued"]);
      expect(await statuses("replace")).toEqual(["canceled", "canceled", "queued"]);
    });

    test("schedules that are set are paused, resumed, run, previewed and removed", async () => {
      const wadi = await start();
      const worker = workerOf(wadi);
      const { schedules } = wadi;
      expect(await schedules.set(HOURLY)).toMatchObject({ source: "stored", nextAtMs: START + HOUR / 2 });
      await worker.drain();
      expect(await schedules.preview("report", 2)).toEqual([START + HOUR / 2, START + 1.5 * HOUR]);
      expect(await schedules.pause("report")).toMatchObject({ pausedAtMs: START, pausedBy: "operator" });
      nowMs += 2 * HOUR;
      expect(await worker.drain()).toMatchObject({ claimed: 0, roundTrips: 1, nextDueAtMs: null });
      expect(await schedules.runNow("report")).toMatchObject({ payload: { to: "all" }, outcome: "created" });
      expect(await schedules.resume("report")).toMatchObject({
        pausedAtMs: null,
        nextAtMs: nowMs + HOUR / 2,
      });
      expect(await worker.drain()).toMatchObject({ claimed: 1, nextDueAtMs: nowMs + HOUR / 2 });
      nowMs += HOUR / 2;
      expect(await worker.drain()).toMatchObject({ claimed: 1 });
      expect(await slots(wadi)).toEqual(["10:30", "11:00"]);
      const [state] = await schedules.list();
      expect(state).toMatchObject({
        name: "report",
        group: "default",
        lastSlotMs: nowMs,
        nextAtMs: nowMs + HOUR,
      });
      expect(await schedules.remove("report")).toBe(true);
      expect(await schedules.remove("report")).toBe(false);
      expect(await schedules.list()).toEqual([]);
      expect(await schedules.pause("report")).toBeNull();
    });

    test("a schedule pauses itself after its tasks have failed in a row", async () => {
      const wadi = await start();
      const failing = { ...HOURLY, options: { maxAttempts: 1 }, pauseAfterFailures: 2 };
      const worker = new Worker(wadi, { schedules: [failing], logger: null }).task("report", () => {
        throw new Error("no");
      });
      await worker.drain();
      for (let hour = 0; hour < 4; hour++) {
        nowMs += HOUR;
        await worker.drain();
      }
      expect(await slots(wadi)).toEqual(["09:00", "10:00"]);
      expect(await wadi.schedules.list()).toMatchObject([{ pausedBy: "failures", failures: 2 }]);
      await wadi.schedules.resume("report");
      nowMs += HOUR;
      await worker.drain();
      expect(await slots(wadi)).toEqual(["09:00", "10:00", "13:00"]);
      expect(await wadi.schedules.list()).toMatchObject([{ pausedAtMs: null, failures: 0 }]);
    });
  },
);
