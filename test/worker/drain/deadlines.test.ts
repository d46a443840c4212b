// The time of a drain: from the platform or an option, divided among the tasks that fit, with a margin to settle.

import { afterEach, describe, expect, test } from "vitest";
import { type Handler, Worker } from "../../../src/index.ts";
import { DrainTime } from "../../../src/worker/drain/drain-time.ts";
import { SettleMargin } from "../../../src/worker/drain/settle-margin.ts";
import { interceptOperations } from "../../../testing/intercept.ts";
import { memoryWadi } from "../../../testing/memory.ts";

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const some = (count: number) => Array.from({ length: count }, (_, payload) => ({ payload }));
const readTime: Handler = ({ deadline, remainingMs }) => [deadline!.getTime(), remainingMs()];

const REQUEST_CONTEXT = Symbol.for("@vercel/request-context");

/** Makes `@vercel/functions` and Wadi see an invocation with this deadline. */
function onVercel(deadline: string | undefined): void {
  Object.assign(globalThis, { [REQUEST_CONTEXT]: { get: () => ({ deadline }) } });
}

afterEach(() => {
  Reflect.deleteProperty(globalThis, REQUEST_CONTEXT);
});

/** How much time a handler has in a drain with these options. */
async function timeIn(options?: Parameters<Worker["drain"]>[0]): Promise<number> {
  const wadi = memoryWadi();
  const { id } = await wadi.submit("a", null);
  await new Worker(wadi).task("a", readTime).drain(options);
  const [deadlineMs, remainingMs] = (await wadi.get(id))!.result as [number, number];
  expect(Math.abs(deadlineMs - Date.now() - remainingMs)).toBeLessThan(2000);
  return remainingMs;
}

describe("the time of a drain", () => {
  test("is 25 seconds where neither an option nor the platform says otherwise", async () => {
    const ms = await timeIn();
    expect(ms).toBeGreaterThan(22_000);
    expect(ms).toBeLessThan(24_900);
  });

  test("is that of the event that started the invocation on Cloudflare", async () => {
    expect(await timeIn({ trigger: "fetch" })).toBeLessThan(25_000);
    const ms = await timeIn({ trigger: "scheduled" });
    expect(ms).toBeGreaterThan(830_000);
    expect(ms).toBeLessThan(840_000);
  });

  test("ends at the deadline that Vercel reports, also if an option says later", async () => {
    onVercel(new Date(Date.now() + 100_000).toISOString());
    expect(await timeIn()).toBeGreaterThan(95_000);
    expect(await timeIn({ budgetMs: 500_000 })).toBeLessThan(100_000);
    expect(await timeIn({ budgetMs: 9000 })).toBeLessThan(9000);
    onVercel("never");
    expect(await timeIn()).toBeLessThan(25_000);
    onVercel(undefined);
    expect(await timeIn()).toBeLessThan(25_000);
  });

  test.each([
    [{ trigger: "cron" as never }, 'trigger must be one of fetch, scheduled, queue, alarm, got "cron"'],
    [{ trigger: "alarm", budgetMs: 1 } as const, "pass only one of budgetMs, deadline and trigger"],
  ])("is refused: %j", async (options, message) => {
    await expect(new Worker(memoryWadi()).task("a", () => 1).drain(options)).rejects.toThrow(message);
  });

  test("is unlimited for a handler of a long-running worker until that is stopped", async () => {
    const wadi = memoryWadi();
    const seen: unknown[] = [];
    const worker = new Worker(wadi).task("a", async ({ deadline, remainingMs }) => {
      seen.push(deadline, remainingMs());
      void worker.stop({ graceMs: 5000 });
      await sleep(5);
      seen.push(remainingMs() <= 5000);
    });
    await wadi.submit("a", null);
    await worker.run();
    expect(seen).toEqual([null, Number.POSITIVE_INFINITY, true]);
  });
});

describe("work that does not fit", () => {
  test("is left as it was, without polls, by how long the name took in earlier drains", async () => {
    const wadi = memoryWadi();
    const worker = new Worker(wadi, { concurrency: 2 }).task("slow", () => sleep(400));
    await wadi.submit("slow", null);
    await worker.drain();
    const tasks = await wadi.submitMany("slow", some(8));
    const summary = await worker.drain({ budgetMs: 1000 });
    expect(summary).toMatchObject({ claimed: 4, succeeded: 4, retried: 0, released: 0, more: true });
    expect(summary.roundTrips).toBeLessThanOrEqual(5);
    const left = await Promise.all(tasks.map(async ({ id }) => (await wadi.get(id))!));
    expect(left.filter(({ status }) => status === "queued").map(({ attempt }) => attempt)).toEqual([
      0, 0, 0, 0,
    ]);
  });

  test("starts at the beginning of a drain all the same if only its measured time is longer", async () => {
    const wadi = memoryWadi();
    let ms = 700;
    const worker = new Worker(wadi, { backoff: { baseMs: 0 } }).task("slow", () => sleep(ms));
    await wadi.submit("slow", null);
    await worker.drain();
    ms = 1;
    await wadi.submit("slow", null);
    expect(await worker.drain({ budgetMs: 500 })).toMatchObject({ succeeded: 1, more: false });
  });

  test("is skipped, and is not due for this drain, if its declared time passed during the first claim", async () => {
    const wadi = memoryWadi();
    const { id } = await wadi.submit("long", null);
    await wadi.submit("a", null);
    interceptOperations(wadi, "claim", async (send) => {
      await sleep(120);
      return send();
    });
    const worker = new Worker(wadi).task("long", () => 1, { maxRunMs: 880 }).task("a", () => 1);
    expect(await worker.drain({ budgetMs: 1000 })).toMatchObject({
      ...{ claimed: 2, succeeded: 1, released: 1, more: false, nextDueAtMs: null },
      skipped: [{ name: "long", reason: "maxRunMs" }],
    });
    expect(await wadi.get(id)).toMatchObject({ status: "queued", attempt: 0 });
  });
});

describe("the margin to settle", () => {
  test("is a share of the time before a round trip was measured, then twice the slowest of the last eight", () => {
    const margin = new SettleMargin();
    expect([margin.of(25_000), margin.of(2000)]).toEqual([750, 150]);
    margin.answered(3);
    expect([margin.of(25_000), margin.of(2000), margin.of(400)]).toEqual([50, 50, 20]);
    margin.answered(200);
    expect([margin.of(25_000), margin.of(1000)]).toEqual([400, 250]);
    for (let n = 0; n < 8; n++) margin.answered(40);
    expect(margin.of(25_000)).toBe(80);
  });

  test("moves the time at which handlers are stopped, which a stop of the worker ends", () => {
    const margin = new SettleMargin();
    const time = new DrainTime(1000, 3000, margin);
    expect([time.stopAtMs, time.longestRunMs]).toEqual([2800, Number.POSITIVE_INFINITY]);
    margin.answered(10);
    time.claimed(1100);
    time.claimed(2000);
    expect([time.stopAtMs, time.leftMs(1100), time.longestRunMs, time.longestEstimateMs]).toEqual([
      ...[2900, 1800, 1750, 1440],
    ]);
    time.stop(2000);
    expect(time.stopAtMs).toBe(2000);
  });

  test("grows with slow round trips, so that what ends at the last moment is stored in time", async () => {
    const wadi = memoryWadi();
    interceptOperations(wadi, "settle", async (send) => {
      await sleep(100);
      return send();
    });
    for (const name of ["claim", "settleAndClaim"])
      interceptOperations(wadi, name, async (send) => {
        await sleep(100);
        return send();
      });
    await wadi.submit("until the end", null);
    const worker = new Worker(wadi).task(
      "until the end",
      ({ signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(1))),
    );
    const startedAtMs = performance.now();
    expect(await worker.drain({ budgetMs: 2000 })).toMatchObject({ succeeded: 1, lost: 0 });
    const tookMs = performance.now() - startedAtMs;
    expect(tookMs).toBeGreaterThan(1400);
    expect(tookMs).toBeLessThan(2000);
  });
});
