// Blocks of the event loop are reported.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { EventLoopBlocked, Worker, type WorkerOptions } from "../../../src/index.ts";
import { type Block, type LoopWatch, watchEventLoop } from "../../../src/worker/drain/event-loop-monitor.ts";
import { type ManualClock, memoryWadi } from "../../../testing/memory.ts";

describe("a watch of the event loop", () => {
  let nowMs = 0;
  let cpuMs: number | null = 0;
  let blocks: Block[] = [];
  let ticks = 0;
  let watching: LoopWatch | null = null;

  beforeEach(() => {
    vi.useFakeTimers();
    [nowMs, cpuMs, blocks, ticks] = [0, 0, [], 0];
  });
  afterEach(() => {
    watching?.stop();
    vi.useRealTimers();
  });

  /** The clock goes on and no timer fires. */
  const block = (ms: number, computedMs = ms) => {
    nowMs += ms;
    if (cpuMs !== null) cpuMs += computedMs;
  };
  const turn = (ms: number) => {
    for (let left = ms; left > 0; left -= 50) {
      nowMs += 50;
      vi.advanceTimersByTime(50);
    }
  };
  const watch = (leaseMs: number) => {
    const onTick = (found: Block | null) => {
      ticks++;
      if (found !== null) blocks.push(found);
    };
    watching = watchEventLoop(leaseMs, onTick, { now: () => nowMs, cpu: () => cpuMs });
    return watching;
  };
  const lengths = () => blocks.map(({ blockedMs }) => blockedMs);

  test("reports nothing while the loop turns", () => {
    watch(20_000);
    turn(60_000);
    expect(blocks).toEqual([]);
    expect(ticks).toBe(60);
  });

  test("reports a block of a quarter of the lease once, in the first turn after it", () => {
    watch(20_000);
    turn(1000);
    block(5000);
    turn(1000);
    expect(blocks).toEqual([{ blockedMs: 5000, affectsFromMs: 2000, cpuMs: 5000 }]);
    turn(60_000);
    expect(lengths()).toEqual([5000]);
  });

  test("does not report a shorter block, and reports a second one", () => {
    watch(20_000);
    for (const ms of [4949, 7000]) {
      block(ms);
      turn(1000);
    }
    expect(lengths()).toEqual([7000]);
  });

  test("ticks often enough for a short lease, and never once it is stopped", () => {
    const stopped = watch(400);
    block(100);
    turn(50);
    expect(lengths()).toEqual([100]);
    stopped.stop();
    expect(vi.getTimerCount()).toBe(0);
  });

  test("reports a block that has ended in the turn that stops it", () => {
    const ended = watch(20_000);
    expect(ended.dueAtMs).toBe(1000);
    block(9000);
    ended.stop();
    expect(lengths()).toEqual([8000]);
  });

  test("reports the CPU time of the process, where the platform does", () => {
    watch(20_000);
    block(9000, 400);
    turn(1000);
    cpuMs = null;
    block(9000);
    turn(1000);
    expect(blocks.map((found) => found.cpuMs)).toEqual([400, null]);
  });
});

test("the error names the block, handlers, tasks and rest of the lease, and says whether the process computed", () => {
  const names = ["resize", "resize", "mail"];
  expect(new EventLoopBlocked(5200, 20_000, names)).toMatchObject({
    code: "EVENT_LOOP_BLOCKED",
    retryable: false,
    blockedMs: 5200,
    running: names,
    isOversubscribed: null,
    message:
      "the event loop stood still for 5200 ms of a lease of 20000 ms while handlers of resize, mail were running; " +
      "move long computations to a thread, or raise leaseMs",
  });
  const tasks = Array.from({ length: 12 }, (_, n) => ({ id: `task_${n}`, name: "mail", attempt: 1 }));
  const outlived = new EventLoopBlocked(30_000, 20_000, ["mail"], {
    tasks,
    leaseLeftMs: -10_000,
    cpuMs: 29_000,
  });
  expect(outlived).toMatchObject({ isOversubscribed: false, leaseLeftMs: -10_000, tasks });
  expect(outlived.message).toMatch(
    /were running \(task_0, .*, task_9 and 2 more\); the lease had expired 10000 ms before/,
  );
  const starved = new EventLoopBlocked(9000, 20_000, [], { leaseLeftMs: 11_000, cpuMs: 310 });
  expect(starved.isOversubscribed).toBe(true);
  expect(starved.message).toMatch(/no handler was running; 11000 ms of the lease were left; /);
  expect(starved.message).toMatch(
    /left; the process computed for only 310 ms of it, so the machine is oversubscribed/,
  );
});

const busy = (ms: number) => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};
/** On a busy machine there may be others. */
const longest = (blocks: EventLoopBlocked[]) => blocks.toSorted((a, b) => b.blockedMs - a.blockedMs)[0];
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe("a drain reports a block", () => {
  /** The blocks that a drain with a lease of 400 ms reports. */
  async function blocksOf(
    setup: (worker: Worker) => Worker,
    options: WorkerOptions = {},
    clock?: ManualClock,
  ) {
    const wadi = memoryWadi(clock === undefined ? {} : { clock: clock.read });
    const blocks: EventLoopBlocked[] = [];
    const onError = (error: unknown) => {
      if (error instanceof EventLoopBlocked) blocks.push(error);
    };
    const worker = setup(new Worker(wadi, { leaseMs: 400, onError, ...options }));
    const ids: Record<string, string> = {};
    for (const name of ["greedy", "patient", "early"]) ids[name] = (await wadi.submit(name, null)).id;
    await worker.drain({ maxTasks: 3 });
    return { blocks, ids };
  }

  test("with the handlers that were running when it began, and no others", async () => {
    const { blocks, ids } = await blocksOf((worker) =>
      worker
        .task("early", () => "over before")
        .task("patient", () => pause(500))
        .task("greedy", async () => {
          await pause(120);
          busy(350);
          await pause(30);
        }),
    );
    const block = longest(blocks);
    expect([...block!.running].sort()).toEqual(["greedy", "patient"]);
    expect(block!.tasks.map(({ id }) => id).sort()).toEqual([ids.greedy, ids.patient].sort());
    expect(block).toMatchObject({ leaseMs: 400, cpuMs: expect.any(Number) });
    expect(block!.leaseLeftMs).toBeLessThan(400);
  });

  test("that ended with the attempt, and that outlived the lease", async () => {
    const { blocks, ids } = await blocksOf((worker) =>
      worker
        .task("early", () => 1)
        .task("patient", () => 1)
        .task("greedy", () => busy(600)),
    );
    const block = longest(blocks);
    expect(block!.tasks).toContainEqual({ id: ids.greedy, name: "greedy", attempt: 1 });
    expect(block!.leaseLeftMs).toBeLessThanOrEqual(0);
    expect(block!.message).toContain("the lease had expired");
  });

  test("to the log if there is no onError", async () => {
    const warnings: string[] = [];
    const logger = { error: () => {}, warn: (line: string) => void warnings.push(line) };
    await blocksOf((worker) => worker.task("greedy", () => busy(300)), { onError: undefined, logger });
    expect(warnings).toContainEqual(
      expect.stringMatching(/^wadi: the event loop stood still for .* handlers of greedy/),
    );
  });
});
