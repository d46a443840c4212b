// A small part of the fault run of `npm run simulate -- invocations`, and how it judges.

import { expect, test } from "vitest";
import { fateOf, lossesOf, RATES, workMsOf } from "../../scripts/simulate/invocations/fates.ts";
import { idealKilledMs } from "../../scripts/simulate/invocations/floor.ts";
import type { InvocationRecord } from "../../scripts/simulate/invocations/invoke.ts";
import { judge, violationsOf } from "../../scripts/simulate/invocations/verdict.ts";
import type { Run } from "../../scripts/simulate/invocations/work-log.ts";
import { runInvocations } from "../../scripts/simulate/invocations.ts";
import type { Move } from "../../testing/races/audit.ts";

test("nothing is lost or settled by a stale owner while invocations are killed, frozen and doubled", {
  timeout: 120_000,
}, async () => {
  const rates = { killEvery: 4, freezeEvery: 6, doubleEvery: 3, loseEvery: 10 };
  const { figures } = await runInvocations(3, 200, rates, () => {});
  expect(figures).toMatchObject({ tasks: 200, lost: 0, staleSettled: 0 });
  expect(figures.kills).toBeGreaterThan(0);
  expect(figures.freezes).toBeGreaterThan(0);
  expect(figures.handlerMs).toBeGreaterThan(30_000);
});

test("a seed draws the same faults again, at exactly their rates", () => {
  const fates = Array.from({ length: 1000 }, (_, n) => fateOf(1, n, 2000, RATES));
  expect(fates).toEqual(Array.from({ length: 1000 }, (_, n) => fateOf(1, n, 2000, RATES)));
  expect(fates).not.toEqual(Array.from({ length: 1000 }, (_, n) => fateOf(2, n, 2000, RATES)));
  const kills = fates.flatMap(({ killAfterMs }) => killAfterMs ?? []);
  expect(kills).toHaveLength(50);
  expect(Math.min(...kills)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...kills)).toBeLessThan(2000);
  expect(fates.filter(({ isDoubled }) => isDoubled)).toHaveLength(100);
  // One that is killed as well is not frozen.
  const freezes = fates.filter(({ freezeAfterMs }) => freezeAfterMs !== null).length;
  expect(freezes).toBeGreaterThan(15);
  expect(freezes).toBeLessThanOrEqual(20);
  const isLost = lossesOf(1, 0, RATES);
  const lost = Array.from({ length: 5000 }, isLost).filter(Boolean).length;
  expect(Math.abs(lost - 100)).toBeLessThan(40);
  const workMs = Array.from({ length: 1000 }, (_, n) => workMsOf(1, n));
  expect([Math.min(...workMs) < 20, Math.max(...workMs) > 380]).toEqual([true, true]);
  expect(workMs.every((ms) => ms >= 5 && ms <= 400)).toBe(true);
});

test("the floor is the time of the calls that an ideal worker runs when it is killed", () => {
  const rates = { ...RATES, killEvery: 1 };
  const plan = { seed: 1, invocations: 100, invocationMs: 2000, concurrency: 4, rates };
  // On average half of a run, and long runs are hit more often: E(d²) / 2 E(d) = 134 ms, less at the beginning.
  const perCallMs = idealKilledMs(plan) / 400;
  expect(perCallMs).toBeGreaterThan(115);
  expect(perCallMs).toBeLessThan(145);
});

const record = (invocation: number, more: Partial<InvocationRecord> = {}): InvocationRecord => ({
  ...{ invocation, killedAtMs: null, overranAtMs: null, frozenMs: null, error: null },
  ...more,
});
const run = (id: string, task: string, invocation: number, from: number, to: number | null): Run => ({
  ...{ run: id, task, invocation, startedAtMs: from, endedAtMs: to },
});
const claimed = (task: string, attempt: number, owner: string): Move => ({
  ...{ task, attempt, owner, was: "queued", became: "running", leaseUntilMs: 0, atMs: 0, result: null },
});
const stored = (task: string, attempt: number, owner: string, id: string, by = owner): Move => ({
  ...{ task, attempt, owner, was: "running", became: "succeeded", leaseUntilMs: 100, atMs: 50 },
  result: { run: id, owner: by, attempt } as Move["result"],
});
const recovered = (task: string, attempt: number, owner: string): Move => ({
  ...claimed(task, attempt, owner),
  ...{ was: "running", became: "queued" },
});

test("work that is not stored is lost to the kill of its invocation, else thrown away", () => {
  const records = [
    record(0),
    record(1, { killedAtMs: 160 }),
    record(2, { frozenMs: [10, 1010] }),
    record(3, { overranAtMs: 2000 }),
  ];
  const runs = [
    run("a1", "a", 0, 0, 100),
    run("b1", "b", 1, 100, null), // ran when its process was killed
    run("c1", "c", 1, 0, 150), // had ended, and was not stored
    run("d1", "d", 2, 0, 1020), // worked for 20 ms
    run("e1", "e", 3, 1990, null),
    run("b2", "b", 0, 200, 300),
    run("c2", "c", 0, 200, 300),
    run("d2", "d", 0, 200, 300),
  ];
  const moves = [
    ...[claimed("a", 1, "x"), stored("a", 1, "x", "a1")],
    ...["b", "c", "d"].flatMap((task) => [
      ...[claimed(task, 1, "y"), recovered(task, 1, "y"), claimed(task, 2, "x")],
      stored(task, 2, "x", `${task}2`),
    ]),
    claimed("e", 1, "z"),
  ];
  const figures = judge(["a", "b", "c", "d", "e"], runs, records, moves);
  expect(figures).toEqual({
    ...{ tasks: 5, lost: 1, staleSettled: 0, handlerMs: 640, thrownAwayMs: 30, killedMs: 210 },
    ...{ killedFloorMs: 60, invocations: 4, kills: 1, freezes: 1, overruns: 1 },
  });
  expect(violationsOf(figures)).toEqual([
    "1 tasks are lost",
    "30 of 640 ms were thrown away",
    "210 ms were lost by kills, of which 60 ms are inevitable",
  ]);
});

test("a settlement by an owner whose task was claimed by another one is a violation", () => {
  const moves = [
    ...[claimed("a", 1, "x"), recovered("a", 1, "x"), claimed("a", 2, "y")],
    stored("a", 2, "y", "a1", "x"),
  ];
  const figures = judge(["a"], [run("a1", "a", 0, 0, 100)], [record(0)], moves);
  expect(figures).toMatchObject({ lost: 0, staleSettled: 1 });
  expect(violationsOf(figures)[0]).toContain("did not hold the task");
});
