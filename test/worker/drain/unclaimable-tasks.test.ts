// Each reason why a task may not be claimed, met by everything that asks whether there is work: nothing spins on it.

import { describe, expect, test } from "vitest";
import { type DrainSummary, defineTask, Wadi, Worker } from "../../../src/index.ts";
import { internalsOf } from "../../../src/producer/internals.ts";
import { storeOf } from "../../../testing/store.ts";
import { pickTargets } from "../../../testing/targets.ts";
import { NO_POLLS } from "../run/idle-run.ts";

const HOUR_MS = 3_600_000;
const NOTHING = { more: false, nextDueAtMs: null, unhandled: [], skipped: [] };
const long = defineTask({ name: "a", maxRunMs: HOUR_MS });
const limits = { key: "k", concurrency: 1 };

interface Reason {
  readonly reason: string;
  /** Submits a task of the name `a` that may not be claimed. `past` is the same database an hour ago. */
  readonly make: (wadi: Wadi, past: Wadi) => Promise<unknown>;
  readonly handles?: typeof long | string;
  /** What a drain reports. */
  readonly reports: Partial<DrainSummary>;
  /** Most round trips of a drain. @default 1 */
  readonly trips?: number;
  /** A worker without a deadline takes it. */
  readonly isForShortDrains?: boolean;
}

const REASONS: readonly Reason[] = [
  {
    reason: "its queue is paused",
    make: async (wadi) => [await wadi.submit("a", null), await wadi.pause({ queue: "default" })],
    reports: NOTHING,
  },
  {
    reason: "its name is paused",
    make: async (wadi) => [await wadi.submit("a", null, { limits }), await wadi.pause({ name: "a" })],
    reports: NOTHING,
  },
  {
    reason: "a paused name has no handler",
    make: async (wadi) => [await wadi.submit("b", null), await wadi.pause({ name: "b", queue: "default" })],
    reports: NOTHING,
  },
  {
    reason: "it has expired",
    make: (_, past) => past.submit("a", null, { expiresInMs: 1000 }),
    reports: NOTHING,
    trips: 2,
  },
  {
    reason: "it has expired under a limit",
    make: (_, past) => past.submit("a", null, { expiresInMs: 1000, limits }),
    reports: NOTHING,
    trips: 3,
  },
  {
    reason: "it has expired in a paused queue",
    make: async (wadi, past) => [
      await past.submit("a", null, { expiresInMs: 1000 }),
      await wadi.pause({ queue: "default" }),
    ],
    reports: NOTHING,
    trips: 2,
  },
  {
    reason: "it has expired and has no handler",
    make: (_, past) => past.submit("b", null, { expiresInMs: 1000 }),
    reports: NOTHING,
    trips: 2,
  },
  {
    reason: "it is due later",
    make: (wadi) => wadi.submit("a", null, { delayMs: HOUR_MS }),
    reports: { ...NOTHING, nextDueAtMs: expect.any(Number) as never },
  },
  {
    reason: "its limit is full",
    make: async (wadi) => {
      await wadi.submitMany("a", [
        { payload: 1, limits },
        { payload: 2, limits },
      ]);
      const lanes = [{ queue: "default", name: "a", quota: 1 }];
      const pools = [{ lanes, limit: 1 }];
      const { tasks } = await storeOf(wadi).claim({ pools, workerId: "w", leaseMs: HOUR_MS, limited: true });
      expect(tasks).toHaveLength(1);
    },
    reports: { ...NOTHING, nextDueAtMs: expect.any(Number) as never },
    trips: 2,
  },
  {
    reason: "it has no handler",
    make: (wadi) => wadi.submit("b", null),
    reports: { ...NOTHING, unhandled: [{ queue: "default", name: "b", tasks: 1 }] },
  },
  {
    reason: "its maxRunMs is longer than the drain",
    make: (wadi) => wadi.submit(long, null),
    handles: long,
    reports: { ...NOTHING, skipped: [{ name: "a", reason: "maxRunMs" }] },
    isForShortDrains: true,
  },
  {
    reason: "it is too large for an answer",
    make: (wadi) => wadi.submit("a", "x".repeat(150_000)),
    reports: {
      ...NOTHING,
      skipped: [{ name: "a", id: expect.any(String) as never, reason: "maxResponseBytes" }],
    },
    trips: 3,
  },
];

describe.each(pickTargets(["better-sqlite3-memory", "d1", "pg"]))("on $name", (target) => {
  async function withTask(
    { make, handles = "a" }: Reason,
    test: (worker: (options?: object) => Worker, ran: () => number, claims: () => number) => Promise<void>,
  ): Promise<void> {
    const open = await target.open();
    const limited = { ...open.executor.limits, maxResponseBytes: 200_000 };
    const executor = Object.assign(Object.create(open.executor), { ...open.executor, limits: limited });
    const wadi = new Wadi(executor, { requestRetry: { tries: 1 } });
    const past = new Wadi(executor, { clock: () => Date.now() - HOUR_MS });
    let ran = 0;
    let claims = 0;
    try {
      await make(wadi, past);
      const { session } = internalsOf(wadi);
      const execute = session.execute.bind(session);
      session.execute = (operation, call) => {
        if (/claim/i.test(operation.name)) claims++;
        return execute(operation, call);
      };
      await test(
        (options) =>
          new Worker(wadi, { logger: null, ...options })
            .task(handles as string, () => void ran++)
            .task("other", () => null),
        () => ran,
        () => claims,
      );
    } finally {
      await wadi.close();
      await open.close();
    }
  }

  test.each(REASONS)("a drain ends and reports what is left if $reason", async (reason) => {
    await withTask(reason, async (worker, ran) => {
      const summary = await worker().drain({ budgetMs: 9_000 });
      expect(summary).toMatchObject(reason.reports);
      expect(summary.roundTrips).toBeLessThanOrEqual(reason.trips ?? 1);
      expect(ran()).toBe(0);
      if (summary.nextDueAtMs !== null) expect(summary.nextDueAtMs).toBeGreaterThan(Date.now() + 1000);
      // The next invocation finds the same, and needs no more for it.
      const again = await worker().drain({ budgetMs: 9_000 });
      expect(again).toMatchObject(reason.reports);
    });
  });

  test.each(REASONS.filter((reason) => !reason.isForShortDrains))(
    "a worker that stays does not poll again and again if $reason",
    async (reason) => {
      await withTask(reason, async (worker, ran, claims) => {
        const stop = new AbortController();
        const running = worker(NO_POLLS).run({ signal: stop.signal });
        await new Promise((resolve) => setTimeout(resolve, 300));
        expect(ran()).toBe(0);
        expect(claims()).toBeLessThanOrEqual((reason.trips ?? 1) + 1);
        stop.abort();
        await running;
      });
    },
  );
});
