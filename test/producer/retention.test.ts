// Sweeps of ended tasks by rules of retention.

import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from "vitest";
import type { Settlement } from "../../src/core/operations/settle.ts";
import { type RetentionRule, Wadi, Worker } from "../../src/index.ts";
import { checkRetention } from "../../src/producer/tasks/retention-rules.ts";
import { ManualClock, memoryWadi } from "../../testing/memory.ts";
import { storeOf } from "../../testing/store.ts";
import type { OpenTarget } from "../../testing/target.ts";
import { pickTargets } from "../../testing/targets.ts";

const HOUR_MS = 3_600_000;

describe.each(pickTargets(["better-sqlite3-memory", "d1", "pg"]))("a sweep on $name", (target) => {
  let open: OpenTarget;
  let wadi: Wadi;
  const clock = new ManualClock();

  beforeAll(async () => {
    open = await target.open();
    wadi = new Wadi(open.executor, { clock: clock.read });
    await wadi.migrate();
  });

  beforeEach(() => open.executor.run({ sql: "delete from cairnq_tasks", params: [] }));

  afterAll(() => open?.close());

  /** A task that ended so, now. */
  async function finish(status: "succeeded" | "failed" | "canceled", queue = "default", name = "job") {
    const { id } = await wadi.submit(name, 1, { queue, key: `${queue}:${name}:${Math.random()}` });
    if (status === "canceled") return wadi.cancel(id);
    const pools = [{ lanes: [{ queue, name, quota: 1 }], limit: 1 }];
    const { tasks } = await storeOf(wadi).claim({
      pools,
      workerId: "w:1",
      leaseMs: 1000,
      limited: false,
    });
    const held = { id, workerId: "w:1", attempt: tasks[0]!.attempt };
    const error = { type: "Error", code: "handler_error", message: "x", retryable: false, details: null };
    const outcome: Settlement =
      status === "succeeded"
        ? { ...held, outcome: "complete", resultJson: "1" }
        : { ...held, outcome: "fail", error };
    return storeOf(wadi).settle([outcome]);
  }

  async function left() {
    return (await wadi.list()).map(({ queue, name, status }) => `${queue} ${name} ${status}`).sort();
  }

  it("applies every rule in one round trip, and leaves what none is for", async () => {
    for (const queue of ["default", "mail"]) {
      for (const status of ["succeeded", "failed", "canceled"] as const) await finish(status, queue);
    }
    await finish("succeeded", "default", "audit");
    await wadi.submit("waiting", 1);
    clock.advance(2 * HOUR_MS);
    await finish("succeeded", "mail", "late");
    const before = open.meter().roundTrips;
    const swept = await wadi.sweep([
      { queue: "mail", olderThanMs: { succeeded: HOUR_MS, failed: 24 * HOUR_MS } },
      { name: "audit", olderThanMs: HOUR_MS },
      { queue: "default", status: "canceled", olderThanMs: HOUR_MS },
    ]);
    if (target.name !== "better-sqlite3-memory") expect(open.meter().roundTrips - before).toBe(1);
    expect(swept).toEqual({ purged: 3, more: false });
    expect(await left()).toEqual([
      "default job failed",
      "default job succeeded",
      "default waiting queued",
      "mail job canceled",
      "mail job failed",
      "mail late succeeded",
    ]);
  });

  it("stops at the limit for each rule and status, and says that there is more", async () => {
    for (let i = 0; i < 3; i++) await finish("canceled");
    for (let i = 0; i < 2; i++) await finish("failed");
    clock.advance(1);
    const rules: RetentionRule[] = [{ olderThanMs: { canceled: 0, failed: 0 } }];
    expect(await wadi.sweep(rules, { limit: 2 })).toEqual({ purged: 4, more: true });
    expect(await wadi.sweep(rules, { limit: 2 })).toEqual({ purged: 1, more: false });
    expect(await left()).toEqual([]);
  });

  it("takes the keys and the history along", async () => {
    await finish("failed");
    clock.advance(1);
    await wadi.sweep([{ olderThanMs: 0 }]);
    for (const table of ["cairnq_task_keys", "wadi_failures"]) {
      expect(await open.executor.run({ sql: `select 1 as one from ${table}`, params: [] })).toEqual([]);
    }
  });
});

test("rules that never delete anything are refused, before anything is sent", async () => {
  const wadi = memoryWadi();
  wadi.executor.batch = () => Promise.reject(new Error("something was sent"));
  for (const rules of [[], [{ olderThanMs: {} }], [{ olderThanMs: { failed: undefined } }]]) {
    await expect(wadi.sweep(rules)).rejects.toMatchObject({ name: "InvalidArgument" });
    expect(() => new Worker(wadi, { retention: rules })).toThrow(/retention|olderThanMs/);
  }
});

test.each<[rules: unknown, message: string]>([
  [undefined, "retention must be an array of 1 to 16 retention rules, got undefined"],
  [[], "retention must be an array of 1 to 16 retention rules, got 0 rules"],
  [Array(17).fill({ olderThanMs: 1 }), "retention must be an array of 1 to 16 retention rules, got 17 rules"],
  [
    [{ olderThanMs: {} }],
    "retention rule 0: olderThanMs names no status, so its rule deletes nothing; " +
      "give succeeded, failed, canceled or one number",
  ],
  [[{ olderThanMs: -1 }], "retention rule 0: olderThanMs must be an integer >= 0, got -1"],
  [[{ queue: "mail" }], "retention rule 0: olderThanMs must be an integer >= 0, got undefined"],
  [[{ olderThanMs: null }], "retention rule 0: olderThanMs must be an integer >= 0, got null"],
  [
    [{ olderThanMs: { failed: 0.5 } }],
    "retention rule 0: olderThanMs.failed must be an integer >= 0, got 0.5",
  ],
  [
    [{ olderThanMs: { queued: 1 } }],
    'retention rule 0: olderThanMs has no option "queued"; it takes succeeded, failed, canceled',
  ],
  [
    [{ olderThanMs: 1, status: "running" }],
    'retention rule 0: status must be one of succeeded, failed, canceled, got "running"',
  ],
  [
    [{ olderThanMs: { failed: 1 }, status: "failed" }],
    "retention rule 0: pass either status or olderThanMs by status, not both",
  ],
  [
    [{ olderThanMs: 1, days: 2 }],
    'retention rule 0: a retention rule has no option "days"; it takes queue, name, status, olderThanMs',
  ],
  [[{ olderThanMs: 1, queue: "" }], 'retention rule 0: queue must be a non-empty string, got ""'],
  [["mail"], "retention rule 0: a retention rule must be an object, got string"],
  [[undefined], "retention rule 0: a retention rule must be an object, got undefined"],
  [
    [{ olderThanMs: 1 }, { olderThanMs: -1 }],
    "retention rule 1: olderThanMs must be an integer >= 0, got -1",
  ],
])("%j is refused", (rules, message) => {
  expect(() => checkRetention(rules as RetentionRule[])).toThrow(
    expect.objectContaining({ code: "INVALID_ARGUMENT", message }),
  );
});

test("a rule may keep some statuses for good", () => {
  expect(checkRetention([{ queue: "mail", olderThanMs: { failed: 5, succeeded: undefined } }])).toEqual([
    { queue: "mail", name: null, status: "failed", older_than_ms: 5 },
  ]);
});
