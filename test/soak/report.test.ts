// The report of the soak over what its ledger shows.

import { describe, expect, test } from "vitest";
import { memoryOf } from "../../scripts/soak/memory.ts";
import { verdictOf } from "../../scripts/soak/verdict.ts";
import type { Move } from "../../testing/races/audit.ts";

const MB = 1024 * 1024;

describe("the record of the database", () => {
  const claimed = (task: string, owner = "w:1", attempt = 1): Move => ({
    ...{ task, was: "queued", became: "running", attempt, owner },
    ...{ leaseUntilMs: 0, atMs: 1, result: null },
  });
  const ended = (task: string, owner = "w:1", attempt = 1, became = "succeeded"): Move => ({
    ...{ task, was: "running", became, attempt, owner },
    ...{ leaseUntilMs: 100, atMs: 50, result: { owner, attempt } },
  });

  test("of tasks that ran once each is a good one", () => {
    const moves = [claimed("a"), ended("a"), claimed("b"), ended("b")];
    expect(verdictOf(["a", "b"], moves)).toEqual({
      submitted: 2,
      succeeded: 2,
      lost: 0,
      settledTwice: 0,
      problems: [],
    });
  });

  test("shows what was lost: never claimed, failed for good, or still running", () => {
    const moves = [claimed("failed"), ended("failed", "w:1", 1, "failed"), claimed("running")];
    const verdict = verdictOf(["never", "failed", "running"], moves);
    expect(verdict).toMatchObject({ submitted: 3, succeeded: 0, lost: 3 });
    expect(verdict.problems).toHaveLength(3);
  });

  test("shows what ended twice, and who had no right to end it", () => {
    const twice = { ...ended("a", "w:2"), was: "succeeded" };
    const verdict = verdictOf(["a"], [claimed("a"), ended("a"), twice]);
    expect(verdict).toMatchObject({ succeeded: 1, lost: 0, settledTwice: 1 });
    expect(verdict.problems.join()).toMatch(/moved without an owner.*not by w:1/s);
  });

  test("shows problems also in tasks whose submit got no answer", () => {
    expect(verdictOf([], [claimed("a")]).problems).toEqual(["a ended as running"]);
  });
});

describe("memory", () => {
  const run = (heap: (n: number) => number) =>
    memoryOf(
      Array.from({ length: 60 }, (_, n) => ({ heapUsed: heap(n) * MB, rss: 100 * MB })),
      10,
    );

  test("that rises while a worker warms up and then stays is flat", () => {
    expect(run((n) => (n < 10 ? n * 3 : 30 + (n % 2)))).toMatchObject({
      isFlat: true,
      heapMaxMb: 31,
      rssMaxMb: 100,
    });
  });

  test("that grows by a megabyte a minute is not flat", () => {
    const memory = run((n) => 20 + n / 6);
    expect(memory.isFlat).toBe(false);
    expect(memory.heapSlopeMbPerMinute).toBeCloseTo(1, 1);
    expect(memory.heapEndMb).toBeGreaterThan(memory.heapStartMb + 5);
  });
});
