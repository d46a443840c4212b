// The verdict of the soak with faults over what its ledger shows.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { FaultLog } from "../../scripts/soak/faults/kinds.ts";
import { Ledger, type Run } from "../../scripts/soak/faults/ledger.ts";
import { type Ending, judge, slowestRecovery, tooFew } from "../../scripts/soak/faults/verdict.ts";

const run = (id: string, attempt: number, more: Partial<Run> = {}): Run => ({
  run: `${id}${attempt}`,
  ...{ id, attempt, worker: "postgres-0", startedAtMs: 1, doneAtMs: 2 },
  ...more,
});
const good = (id: string) => ({ id, poison: false });
const succeeded = (settledBy: string) => ({ status: "succeeded", run: settledBy });

test("a task that was settled by the last call of its handler is a good one", () => {
  const runs = [run("a", 1), run("b", 1, { doneAtMs: null }), run("b", 2)];
  const endings = new Map([
    ["a", succeeded("a1")],
    ["b", succeeded("b2")],
  ]);
  expect(judge([good("a"), good("b")], endings, runs)).toEqual({
    ...{ submitted: 2, succeeded: 2, failed: 0, lost: 0, settledTwice: 0, goodFailed: 0 },
  });
});

test("a call that had lost its lease to a later one may not settle", () => {
  const runs = [run("a", 1), run("a", 2)];
  const verdict = judge([good("a")], new Map([["a", succeeded("a1")]]), runs);
  expect(verdict).toMatchObject({ succeeded: 1, settledTwice: 1 });
});

test("lost is what is missing, has not ended, or succeeded without its handler", () => {
  const runs = [run("cut", 1, { doneAtMs: null })];
  const endings = new Map<string, Ending>([
    ["queued", { status: "queued", run: null }],
    ["invented", succeeded("nothing")],
    ["cut", succeeded("cut1")],
  ]);
  const accepted = ["missing", "queued", "invented", "cut"].map(good);
  expect(judge(accepted, endings, runs)).toMatchObject({ submitted: 4, lost: 4 });
});

test("only a poisonous task may fail", () => {
  const failed = { status: "failed", run: null };
  const endings = new Map([
    ["a", failed],
    ["p", failed],
  ]);
  expect(judge([good("a"), { id: "p", poison: true }], endings, [])).toMatchObject({
    failed: 2,
    goodFailed: 1,
  });
});

test("a recovery lasts from the last of several faults to the next task that is done", () => {
  const runs = [100, 5000, 5100].map((doneAtMs) => run("a", 1, { doneAtMs }));
  const faults = [
    { kind: "halfOpen", worker: "postgres-0", atMs: 200, overAtMs: 200 },
    { kind: "failover", worker: null, atMs: 4000, overAtMs: 4000 },
    { kind: "dropped", worker: "neon-0", atMs: 4900, overAtMs: 4900 },
    { kind: "poison", worker: "postgres-0", atMs: 4950, overAtMs: 4950 },
  ] as const;
  expect(slowestRecovery(runs, faults, 10_000)).toEqual({
    ms: 1000,
    worker: "postgres-0",
    kind: "failover",
  });
  const never = [{ kind: "halfOpen", worker: "postgres-0", atMs: 6000, overAtMs: 6000 }] as const;
  expect(slowestRecovery(runs, never, 10_000)?.ms).toBe(4000);
  const held = [...never, { kind: "delayed", worker: "postgres-0", atMs: 7000, overAtMs: 12_000 }] as const;
  expect(slowestRecovery(runs, held, 10_000)).toBeNull();
  const late = [...runs, run("b", 1, { doneAtMs: 60_000 })]; // by then the others had done the rest
  expect(slowestRecovery(late, never, 10_000)?.ms).toBe(4000);
});

test("a run says which kinds of fault were too few", () => {
  const log = new FaultLog();
  for (let n = 0; n < 200; n++) log.add("dropped", "w");
  expect(tooFew(log.counts, 10)).not.toContainEqual(expect.stringContaining("dropped"));
  expect(tooFew(log.counts, 10)).toContain("only 0 of poison, 200 were to be");
  log.add("poison", "w");
  expect(tooFew(log.counts, 0.3)).not.toContainEqual(expect.stringContaining("poison"));
});

test("the ledger has every call, and whether it returned", () => {
  const folder = mkdtempSync(join(tmpdir(), "wadi-ledger-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const ledger = new Ledger(join(folder, "ledger"));
  expect(ledger.read()).toEqual([]);
  const first = ledger.start({ id: "a", attempt: 1 }, "w");
  const second = ledger.start({ id: "a", attempt: 2 }, "w");
  ledger.done(second);
  expect(ledger.read()).toMatchObject([
    { run: first, id: "a", attempt: 1, worker: "w", doneAtMs: null },
    { run: second, attempt: 2, doneAtMs: expect.any(Number) },
  ]);
});
