// The pauses between the polls of a drain.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type PollOptions, PollSchedule } from "../../../src/worker/drain/poll-schedule.ts";

const NEVER = Number.POSITIVE_INFINITY;
const NOW_MS = 1_000_000;
let isAnnounced: boolean;

beforeEach(() => {
  vi.spyOn(Math, "random").mockReturnValue(0.5); // no jitter
  isAnnounced = false;
});
afterEach(() => {
  vi.restoreAllMocks();
});

const pollsWith = (options: Partial<PollOptions> = {}) =>
  new PollSchedule({
    firstMs: 1000,
    maxMs: 3000,
    growth: 1.5,
    announcedMs: 30_000,
    isAnnounced: () => isAnnounced,
    ...options,
  });

/** How long it pauses before its next poll, in milliseconds. */
function pause(polls: PollSchedule, untilMs = NEVER, isUnannounced = false): number {
  polls.plan(NOW_MS, untilMs, isUnannounced);
  const { atMs } = polls;
  polls.cancel();
  return atMs - NOW_MS;
}

test("pauses grow up to the longest while nothing is claimed, and are short again after a claim", () => {
  const polls = pollsWith();
  const pauses: number[] = [];
  for (let poll = 0; poll < 8; poll++) {
    if (poll === 5) polls.found();
    pauses.push(pause(polls));
  }
  expect(pauses).toEqual([1000, 1500, 2250, 3000, 3000, 1000, 1500, 2250]);
});

test("are not longer than the time to the next due task", () => {
  const polls = pollsWith();
  expect(pause(polls, NOW_MS + 300)).toBe(300);
  expect(pause(polls, NOW_MS + 10_000)).toBe(1500);
});

test("are short at first and soon longer while tasks are due that cannot be claimed, announced or not", () => {
  const polls = pollsWith();
  isAnnounced = true;
  const pauses: number[] = [];
  for (let poll = 0; poll < 10; poll++) {
    if (poll === 8) polls.found();
    pauses.push(pause(polls, NOW_MS - 5));
  }
  expect(pauses).toEqual([50, 100, 200, 400, 800, 1600, 3000, 3000, 50, 100]);
});

test("are long while the database announces new tasks, and short again once it does not", () => {
  const polls = pollsWith();
  isAnnounced = true;
  expect(pause(polls)).toBe(30_000);
  expect(pause(polls, NOW_MS + 40)).toBe(40);
  isAnnounced = false;
  expect(pause(polls)).toBe(2250);
  isAnnounced = true;
  expect(pause(pollsWith({ maxMs: 60_000 }))).toBe(60_000);
  expect(pause(pollsWith({ announcedMs: NEVER }))).toBe(NEVER);
});

test("are those of a worker that polls where the database does not announce what it waits for", () => {
  const polls = pollsWith();
  isAnnounced = true;
  const pauses: number[] = [];
  for (let poll = 0; poll < 5; poll++) pauses.push(pause(polls, NEVER, true));
  expect(pauses).toEqual([1000, 1500, 2250, 3000, 3000]);
});

test("are never all of one length", () => {
  vi.mocked(Math.random).mockReturnValueOnce(0).mockReturnValueOnce(1);
  const polls = pollsWith({ maxMs: 1000 });
  expect([pause(polls), pause(polls), pause(polls)]).toEqual([750, 1250, 1000]);
});

test("the poll after a settlement sent alone comes soon, once", () => {
  const polls = pollsWith({ maxMs: 1000 });
  polls.soon();
  expect(pause(polls)).toBe(10);
  expect(pause(polls)).toBe(1000);
});

test("a poll that is planned stays as it is until it is dropped", () => {
  const polls = pollsWith();
  polls.plan(NOW_MS, NEVER, false);
  polls.plan(NOW_MS + 500, NOW_MS + 600, false);
  expect(polls.atMs).toBe(NOW_MS + 1000);
  polls.cancel();
  expect(polls.atMs).toBe(NEVER);
});
