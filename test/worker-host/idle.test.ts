import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { monotonicMs } from "../../src/core/clock.ts";
import { type IdleOptions, IdleWait } from "../../src/worker/idle.ts";

const never = new Promise<void>(() => {});
let claimed: number;
let isPushed: boolean;

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, "random").mockReturnValue(0.5); // no jitter
  claimed = 0;
  isPushed = false;
});
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const idleWait = (options: Partial<IdleOptions> = {}) =>
  new IdleWait({
    pollMs: 1000,
    maxPollMs: 3000,
    isPushed: () => isPushed,
    claimed: () => claimed,
    ...options,
  });

/** How long it waits, in milliseconds. */
async function pause(idle: IdleWait, untilMs = Number.POSITIVE_INFINITY, isUntold = false): Promise<number> {
  const startMs = monotonicMs();
  let endMs: number | undefined;
  void idle.wait(untilMs, never, isUntold).then(() => {
    endMs = monotonicMs();
  });
  while (endMs === undefined) await vi.advanceTimersToNextTimerAsync();
  return endMs - startMs;
}

test("pauses grow up to the longest while nothing is claimed, and begin anew after a claim", async () => {
  const idle = idleWait();
  const pauses: number[] = [];
  for (let look = 0; look < 8; look++) {
    if (look === 5) claimed++;
    pauses.push(await pause(idle));
  }
  expect(pauses).toEqual([1000, 1500, 2250, 3000, 3000, 1000, 1500, 2250]);
});

test("are not longer than the time to the next due task", async () => {
  const idle = idleWait();
  expect(await pause(idle, monotonicMs() + 300)).toBe(300);
  expect(await pause(idle, monotonicMs() + 10_000)).toBe(1500);
});

test("are short at first and soon longer while tasks are due that cannot be claimed, pushed or not", async () => {
  const idle = idleWait();
  isPushed = true;
  const pauses: number[] = [];
  for (let look = 0; look < 10; look++) {
    if (look === 8) claimed++;
    pauses.push(await pause(idle, monotonicMs() - 5));
  }
  expect(pauses).toEqual([50, 100, 200, 400, 800, 1600, 3000, 3000, 50, 100]);
});

test("are long while the database tells of new tasks, and short again once it does not", async () => {
  const idle = idleWait();
  isPushed = true;
  expect(await pause(idle)).toBe(30_000);
  expect(await pause(idle, monotonicMs() + 40)).toBe(40);
  isPushed = false;
  expect(await pause(idle)).toBe(2250);
  isPushed = true;
  expect(await pause(idleWait({ maxPollMs: 60_000 }))).toBe(60_000);
});

test("are those of a worker that polls where the database tells nothing of what it waits for", async () => {
  const idle = idleWait();
  isPushed = true;
  const pauses: number[] = [];
  for (let look = 0; look < 5; look++) pauses.push(await pause(idle, Number.POSITIVE_INFINITY, true));
  expect(pauses).toEqual([1000, 1500, 2250, 3000, 3000]);
});

test("are never all of one length", async () => {
  vi.mocked(Math.random).mockReturnValueOnce(0).mockReturnValueOnce(1);
  const idle = idleWait({ maxPollMs: 1000 });
  expect([await pause(idle), await pause(idle), await pause(idle)]).toEqual([750, 1250, 1000]);
});

test("end at once when it is told, also if that came while nobody waited, and once only", async () => {
  const idle = idleWait();
  const wait = idle.wait(Number.POSITIVE_INFINITY, never);
  idle.tell();
  await wait;
  idle.tell();
  idle.tell();
  await idle.wait(Number.POSITIVE_INFINITY, never);
  expect(await pause(idle)).toBe(2250);
});

test("end with the wish of whoever waits, and the next one is a whole one", async () => {
  const idle = idleWait({ maxPollMs: 1000 });
  await idle.wait(Number.POSITIVE_INFINITY, Promise.resolve());
  expect(await pause(idle)).toBe(1000);
});
