// The pauses between the polls of a wait.

import { describe, expect, test } from "vitest";
import { PollPace } from "../../../src/producer/wait/poll-pace.ts";

const NEVER = Number.POSITIVE_INFINITY;
const DEFAULTS = { timeoutMs: 30_000, pollMs: 100, maxPollMs: 500 };

/** When a wait polls that is alone, on the clock of the test. */
function alone(options = DEFAULTS, maxQueries = NEVER, isPushed = false): number[] {
  const pace = new PollPace(options, 0, maxQueries);
  const polls: number[] = [];
  while (!pace.isOver(pace.dueAtMs)) {
    polls.push(pace.dueAtMs);
    pace.rest(pace.dueAtMs, polls.length, isPushed);
  }
  return polls;
}

describe("the pace of a wait", () => {
  test("grows from pollMs by 1.5 to maxPollMs", () => {
    const polls = alone();
    expect(polls.slice(0, 7)).toEqual([0, 100, 250, 475, 812.5, 1312.5, 1812.5]);
    expect(polls.length).toBe(63);
    expect(alone({ timeoutMs: 100, pollMs: 25, maxPollMs: 10 })).toEqual([0, 25, 50, 75]);
  });

  test("is one poll every 30 seconds while the database reports ends", () => {
    expect(alone({ ...DEFAULTS, timeoutMs: 100_000 }, NEVER, true)).toEqual([0, 30_000, 60_000, 90_000]);
  });

  test.each([5_000, 25_000, 30_000, 600_000])(
    "keeps %i ms within 20 queries, quick first and then evenly spread",
    (timeoutMs) => {
      const polls = alone({ ...DEFAULTS, timeoutMs }, 20);
      expect(polls.length).toBeLessThanOrEqual(20);
      expect(polls.slice(0, 5)).toEqual([0, 100, 250, 475, 812.5]);
      const pauses = polls.map((at, i) => (polls[i + 1] ?? timeoutMs) - at).slice(10);
      expect(Math.max(...pauses)).toBeLessThan(Math.max(500, timeoutMs / 9));
      expect(alone({ timeoutMs, pollMs: 1, maxPollMs: 1 }, 20).length).toBeLessThanOrEqual(20);
    },
  );

  test("prefers the limit of its option to that of the driver", () => {
    expect(alone({ ...DEFAULTS, maxQueries: 200 } as typeof DEFAULTS, 20).length).toBe(63);
    expect(alone({ ...DEFAULTS, maxQueries: 6 } as typeof DEFAULTS).length).toBeLessThanOrEqual(6);
  });

  test("is not changed by the polls of other waits, except that it joins those that are near", () => {
    const pace = new PollPace(DEFAULTS, 0, NEVER);
    pace.rest(0, 1, false);
    expect([49, 50, 99].map((nowMs) => pace.isNear(nowMs))).toEqual([false, true, true]);
    pace.rest(60, 2, false); // the poll of another wait: no growth, and the next one is due before 250, as if alone
    expect(pace.dueAtMs).toBe(210);
    pace.rest(210, 3, false);
    expect(pace.dueAtMs).toBe(360);
  });

  test("comes back at once when ends are not reported any more", () => {
    const pace = new PollPace(DEFAULTS, 0, NEVER);
    pace.rest(0, 1, true);
    expect(pace.dueAtMs).toBe(30_000);
    pace.resume(20);
    expect(pace.dueAtMs).toBe(150);
    pace.hasten(40, 0);
    expect(pace.dueAtMs).toBe(40);
  });
});
