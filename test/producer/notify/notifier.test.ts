// Notifications within one Wadi, and through connections that listen.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Executor } from "../../../src/core/executor.ts";
import { pg } from "../../../src/drivers/pg.ts";
import { Wadi, Worker } from "../../../src/index.ts";
import { internalsOf } from "../../../src/producer/internals.ts";
import { Notifier } from "../../../src/producer/notify/notifier.ts";
import { memoryWadi } from "../../../testing/memory.ts";
import { pgFixture } from "../../../testing/pg-fixture.ts";
import { endListeners } from "../../../testing/postgres-activity.ts";
import { sentOperations } from "../../../testing/sent-operations.ts";
import { storeOf } from "../../../testing/store.ts";
import { until } from "../../../testing/until.ts";
import { UNTIL_NOTIFIED } from "../../../testing/until-notified.ts";

describe("notifications within one Wadi", () => {
  test("a submit announces the queues that got tasks, also tasks that are due later, and no reused ones", async () => {
    const wadi = memoryWadi();
    const reported: unknown[] = [];
    const stop = internalsOf(wadi).notifier.onQueued((queues) => reported.push(queues));
    await wadi.submit("a", 1, { queue: "x", key: "k" });
    await wadi.submitMany("a", [{ payload: 1, queue: "y" }, { payload: 2, queue: "y" }, { payload: 3 }]);
    await wadi.submit("a", 1, { delayMs: 60_000 });
    await wadi.submit("a", 1, { runAt: Date.now() + 60_000 });
    await wadi.submit("a", 1, { queue: "x", key: "k" });
    expect(reported).toEqual([["x"], ["y", "default"], ["default"], ["default"]]);
    reported.length = 0;
    const { id } = await wadi.submit("a", 1, { queue: "z", delayMs: 1 });
    await wadi.cancel(id);
    await wadi.retry(id);
    expect(reported).toEqual([["z"], ["z"]]);
    stop();
    await wadi.submit("a", 1);
    expect(reported.length).toBe(2);
    expect(wadi.wakeSource).toBe("local");
  });

  test("a waiter that is woken reads the row at once", async () => {
    const wadi = memoryWadi();
    const { id } = await wadi.submit("a", null);
    const names = sentOperations(wadi);
    const wait = wadi.wait(id, UNTIL_NOTIFIED);
    await vi.waitUntil(() => names.length === 1);
    await wadi.cancel(id);
    expect((await wait).status).toBe("canceled");
    expect(names).toEqual(["getStatus", "cancel", "get"]);
  });

  test("a notification that comes too early costs one read and ends nothing", async () => {
    const wadi = memoryWadi();
    const { id } = await wadi.submit("a", null);
    const names = sentOperations(wadi);
    const wait = wadi.wait(id, UNTIL_NOTIFIED);
    await vi.waitUntil(() => names.length === 1);
    internalsOf(wadi).notifier.done([id, "another"]);
    await vi.waitUntil(() => names.length === 2);
    await wadi.cancel(id);
    expect((await wait).status).toBe("canceled");
    expect(names).toEqual(["getStatus", "get", "cancel", "get"]);
  });

  test("a call is a submit and one read", async () => {
    const wadi = memoryWadi();
    const names = sentOperations(wadi);
    internalsOf(wadi).notifier.onQueued(async () => {
      const store = storeOf(wadi);
      const [task] = (
        await store.claim({
          pools: [{ lanes: [{ queue: "default", name: "a", quota: 1 }], limit: 1 }],
          workerId: "w",
          leaseMs: 9999,
          limited: false,
        })
      ).tasks;
      await store.settle([
        { id: task!.id, workerId: "w", attempt: 1, outcome: "complete", resultJson: "42" },
      ]);
      internalsOf(wadi).notifier.done([task!.id]);
    });
    expect(await wadi.call("a", 1, UNTIL_NOTIFIED)).toBe(42);
    expect(names).toEqual(["submit", "claim", "settle", "get"]);
    names.length = 0;
    expect(await wadi.call("a", 1, { key: "k" })).toBe(42);
    // The key's task is done: its row came with the submit.
    expect(await wadi.call("a", 2, { key: "k", conflict: "reuse-succeeded" })).toBe(42);
    expect(names).toEqual(["submit", "claim", "settle", "get", "submit"]);
  });

  test("the wait of a key follows it to a new task", async () => {
    const wadi = memoryWadi();
    const first = await wadi.submit("a", null, { key: "k" });
    const names = sentOperations(wadi);
    const wait = wadi.waitByKey("k", UNTIL_NOTIFIED);
    await vi.waitUntil(() => names.length === 1);
    const second = await wadi.submit("a", null, { key: "k", conflict: "replace" });
    internalsOf(wadi).notifier.done([first.id]);
    await vi.waitUntil(() => names.length === 3);
    internalsOf(wadi).notifier.done([first.id]);
    await wadi.cancel(second.id);
    await vi.waitUntil(() => names.includes("get"));
    internalsOf(wadi).notifier.done([second.id]);
    expect((await wait).id).toBe(second.id);
  });
});

describe("a lost connection", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** An executor whose listen calls are answered by the test. */
  function listening() {
    const calls: { channels: readonly string[]; open(): void; refuse(): void; lose(): void }[] = [];
    let stops = 0;
    const listen: Executor["listen"] = (channels, _onSignal, onClose) =>
      new Promise((resolve, reject) => {
        const refuse = () => reject(new Error("refused"));
        calls.push({ channels, open: () => resolve(() => stops++), refuse, lose: () => onClose() });
      });
    const notifier = new Notifier({ ...memoryWadi().executor, listen });
    return { notifier, calls, stops: () => stops };
  }
  const settle = () => vi.advanceTimersByTimeAsync(0);

  test("is opened again with growing pauses while there are subscribers", async () => {
    const { notifier, calls } = listening();
    expect(notifier.wakeSource).toBe("local");
    const release = notifier.subscribe("t", () => {});
    notifier.subscribe("u", () => {});
    expect(calls.map(({ channels }) => channels)).toEqual([["cairnq_done"]]);
    expect(notifier.wakeSource).toBe("polling");
    const pauses: number[] = [];
    for (let round = 1; round <= 8; round++) {
      calls.at(-1)!.refuse();
      await settle();
      expect(notifier.wakeSource).toBe("polling");
      const sinceMs = Date.now();
      await vi.advanceTimersToNextTimerAsync();
      expect(calls.length).toBe(round + 1);
      pauses.push(Date.now() - sinceMs);
    }
    pauses.forEach((pause, i) => {
      const window = Math.min(30_000, 1000 * 2 ** i);
      expect(pause).toBeGreaterThanOrEqual(window / 2);
      expect(pause).toBeLessThanOrEqual(window);
    });
    calls.at(-1)!.open();
    await settle();
    expect(notifier.wakeSource).toBe("listening");
    calls.at(-1)!.lose();
    calls.at(-1)!.lose();
    expect(notifier.wakeSource).toBe("polling");
    await vi.advanceTimersByTimeAsync(1000); // a success resets the pauses
    expect(calls.length).toBe(10);
    release();
  });

  test("is not opened again without subscribers: no timer runs, and a new subscriber waits for the pause", async () => {
    const { notifier, calls } = listening();
    const release = notifier.subscribe("t", () => {});
    calls[0]!.open();
    await settle();
    release();
    expect(notifier.wakeSource).toBe("listening");
    calls[0]!.lose();
    expect(notifier.wakeSource).toBe("local");
    expect(vi.getTimerCount()).toBe(0);
    notifier.subscribe("t", () => {})();
    expect([vi.getTimerCount(), calls.length]).toEqual([0, 1]);
    const releaseAgain = notifier.subscribe("t", () => {});
    expect([vi.getTimerCount(), calls.length]).toEqual([1, 1]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(calls.length).toBe(2);
    releaseAgain();
  });

  test("is given up a minute after the last subscriber left, and opened again for the next", async () => {
    const { notifier, calls, stops } = listening();
    const release = notifier.subscribe("t", () => {});
    calls[0]!.open();
    await settle();
    release();
    await vi.advanceTimersByTimeAsync(59_000);
    notifier.subscribe("u", () => {})();
    await vi.advanceTimersByTimeAsync(59_000);
    expect([notifier.wakeSource, stops()]).toEqual(["listening", 0]);
    await vi.advanceTimersByTimeAsync(1000);
    expect([notifier.wakeSource, stops(), calls.length]).toEqual(["local", 1, 1]);
    notifier.subscribe("t", () => {});
    calls[1]!.open();
    await vi.advanceTimersByTimeAsync(120_000);
    expect([notifier.wakeSource, stops()]).toEqual(["listening", 1]);
  });

  test("reports to listeners for new tasks that they may have missed some", async () => {
    const { notifier, calls } = listening();
    const reported: unknown[] = [];
    const stop = notifier.onQueued((queues) => reported.push(queues));
    expect(calls.map(({ channels }) => channels)).toEqual([["cairnq_queued"]]);
    calls[0]!.open();
    await settle();
    calls[0]!.lose();
    expect(reported).toEqual([null, null]);
    stop();
  });

  test("ends with close, also one that is only being opened", async () => {
    const { notifier, calls, stops } = listening();
    notifier.subscribe("t", () => {});
    notifier.onQueued(() => {});
    calls[0]!.open();
    const closed = notifier.close();
    calls[1]!.open();
    await closed;
    await settle();
    expect([stops(), notifier.wakeSource, vi.getTimerCount()]).toEqual([2, "local", 0]);
  });

  test("is not waited for by close while it is being opened, nor opened again by those who go on waiting", async () => {
    const { notifier, calls, stops } = listening();
    notifier.subscribe("t", () => {});
    await notifier.close(); // a pool may have no connection to give before this returns
    notifier.subscribe("u", () => {});
    notifier.onQueued(() => {});
    await vi.advanceTimersByTimeAsync(60_000);
    expect([calls.length, notifier.wakeSource]).toEqual([1, "local"]);
    calls[0]!.open();
    await settle();
    expect([stops(), notifier.wakeSource]).toEqual([1, "local"]);
  });
});

describe("notifications of Postgres", () => {
  const db = pgFixture("select 1");
  test("report to a Wadi what another did, and again after its connection was killed", async () => {
    const mine = new Wadi(pg(db.pool()));
    const theirs = new Wadi(pg(db.pool()));
    const reported: unknown[] = [];
    await mine.migrate();
    const stop = internalsOf(mine).notifier.onQueued((queues) => reported.push(queues?.join() ?? null));
    await until(() => mine.wakeSource === "listening");
    expect(reported.splice(0)).toEqual([null]);
    const drain = () => new Worker(theirs).task("a", ({ payload }) => payload).drain();

    for (let round = 0; round < 2; round++) {
      const { id } = await theirs.submit("a", round, { queue: "q" });
      await until(() => reported.includes("q"));
      const call = mine.call("a", round, UNTIL_NOTIFIED);
      const wait = mine.wait((await theirs.submit("a", round)).id, UNTIL_NOTIFIED);
      await until(async () => (await theirs.stats()).default!.queued === 2);
      await drain();
      expect([await call, (await wait).result]).toEqual([round, round]);
      await theirs.cancel(id);
      reported.length = 0;
      if (round === 1) break;
      await endListeners(db.admin);
      await until(() => mine.wakeSource === "polling");
      expect(reported).toEqual([null]);
      await until(() => mine.wakeSource === "listening");
      expect(reported).toEqual([null, null]);
    }
    stop();
    await mine.close();
    expect(mine.wakeSource).toBe("local");
  });

  test("leave a pool that can be ended, although a wait is open", async () => {
    const pool = db.pool();
    const wadi = new Wadi(pg(pool));
    const { id } = await wadi.submit("a", null);
    const stop = new AbortController();
    const wait = wadi.wait(id, { pollMs: 5, maxPollMs: 5, signal: stop.signal });
    await until(() => wadi.wakeSource === "listening");
    await wadi.close();
    await new Promise((resolve) => setTimeout(resolve, 50)); // the wait polls again, and again
    expect(wadi.wakeSource).toBe("local");
    stop.abort(new Error("enough"));
    await expect(wait).rejects.toThrow("enough");
    await pool.end();
  });
});
