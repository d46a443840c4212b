import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { EventLoopBlocked } from "../../src/index.ts";
import { watchEventLoop } from "../../src/worker/event-loop.ts";

let blocks: number[] = [];
let stop = () => {};

beforeEach(() => {
  vi.useFakeTimers();
  blocks = [];
});
afterEach(() => {
  stop();
  vi.useRealTimers();
});

/** The clock goes on and no timer fires. */
const block = (ms: number) => vi.setSystemTime(Date.now() + ms);
const watch = (leaseMs: number) => {
  stop = watchEventLoop(leaseMs, (ms) => blocks.push(ms));
};

test("a loop that turns is not reported", () => {
  watch(20_000);
  vi.advanceTimersByTime(600_000);
  expect(blocks).toEqual([]);
});

test("a block of a quarter of the lease is told once, in the first turn after it", () => {
  watch(20_000);
  vi.advanceTimersByTime(1000);
  block(5000);
  vi.advanceTimersByTime(1000);
  expect(blocks).toEqual([5000]);
  vi.advanceTimersByTime(60_000);
  expect(blocks).toEqual([5000]);
});

test("a shorter one is not, and a second one is", () => {
  watch(20_000);
  for (const ms of [4999, 7000]) {
    block(ms);
    vi.advanceTimersByTime(1000);
  }
  expect(blocks).toEqual([7000]);
});

test("looks often enough for a short lease, and not at all once it was stopped", () => {
  watch(400);
  block(100);
  vi.advanceTimersByTime(50);
  expect(blocks).toEqual([100]);
  stop();
  expect(vi.getTimerCount()).toBe(0);
});

test("the error says how long and in which handlers", () => {
  expect(new EventLoopBlocked(5200, 20_000, ["resize", "resize", "mail"])).toMatchObject({
    code: "EVENT_LOOP_BLOCKED",
    retryable: false,
    blockedMs: 5200,
    running: ["resize", "resize", "mail"],
    message:
      "the event loop stood still for 5200 ms of a lease of 20000 ms while handlers of resize, mail were running; move long computations to a thread, or raise leaseMs",
  });
  expect(new EventLoopBlocked(1, 2, []).message).toContain("while no handler was running");
});
