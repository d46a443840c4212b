// Limits of tasks that run at once.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ClaimPool, Lane } from "../../src/core/operations/claim-pools.ts";
import type { ClaimResult } from "../../src/core/operations/claim-result.ts";
import { type FleetLimits, type Task, Wadi } from "../../src/index.ts";
import { ManualClock } from "../../testing/memory.ts";
import { storeOf } from "../../testing/store.ts";
import type { OpenTarget } from "../../testing/target.ts";
import { pickTargets } from "../../testing/targets.ts";

const lane = (name: string, fields: Partial<Lane> = {}): Lane => ({
  queue: "default",
  name,
  quota: 100,
  ...fields,
});
const pool = (names: readonly string[], limit = 100): ClaimPool => ({
  lanes: names.map((name) => lane(name)),
  limit,
});

describe.each(pickTargets(["better-sqlite3-memory", "d1", "pg", "neon-http"]))("$name", (target) => {
  let open: OpenTarget;
  let wadi: Wadi;
  let clock: ManualClock;
  let claims = 0;

  beforeEach(async () => {
    open = await target.open();
    clock = new ManualClock();
    wadi = new Wadi(open.executor, { clock: clock.read });
  });
  afterEach(() => open.close());

  const claim = (pools: readonly ClaimPool[], limited = true): Promise<ClaimResult> =>
    storeOf(wadi).claim({ pools, workerId: `w:${++claims}`, leaseMs: 10_000, limited });
  const take = async (names: readonly string[], limit?: number) => (await claim([pool(names, limit)])).tasks;
  const settle = (tasks: readonly Task[], outcome: "complete" | "release" = "complete") =>
    storeOf(wadi).settle(
      tasks.map(({ id, workerId, attempt }) => ({
        ...{ id, workerId: workerId!, attempt },
        ...(outcome === "complete" ? { outcome, resultJson: "1" } : { outcome, delayMs: 0 }),
      })),
    );
  async function submit(name: string, count: number, limits?: FleetLimits, options = {}): Promise<void> {
    const entry = { payload: 1, limits, ...options };
    await wadi.submitMany(name, Array<typeof entry>(count).fill(entry));
  }

  test("at most so many tasks of a key run, and each that ends makes room for the next", async () => {
    await submit("a", 10, { key: "k", concurrency: 3 });
    const first = await take(["a"]);
    expect(first).toHaveLength(3);
    const full = await claim([pool(["a"])]);
    // More are queued, and nothing is due before one of those that run ends.
    expect(full).toMatchObject({ tasks: [], limited: true });
    expect(full.nextDueAtMs).toBe(first[0]!.leaseUntilMs);
    await settle(first.slice(0, 2));
    expect(await take(["a"])).toHaveLength(2);
  });

  test("a key that is full delays neither other keys nor tasks without a key", async () => {
    await submit("a", 5, { key: "full", concurrency: 1 }, { priority: 9 });
    await submit("a", 5, { key: "other", concurrency: 2 });
    await submit("a", 2);
    expect(await take(["a"])).toHaveLength(1 + 2 + 2);
    expect(await take(["a"])).toEqual([]);
  });

  test("lanes, queues and pools that share a key share its room, within one claim too", async () => {
    const limits = { key: "k", concurrency: 4 };
    for (const name of ["a", "b", "c"]) await submit(name, 4, limits);
    await submit("a", 4, limits, { queue: "mail" });
    const lanes = [lane("a"), lane("b"), lane("a", { queue: "mail" })];
    const { tasks } = await claim([{ lanes, limit: 3 }, pool(["c"])]);
    expect(tasks).toHaveLength(4);
    expect(tasks.filter(({ name }) => name === "c")).toHaveLength(1);
  });

  test("a claim that is not a limited one leaves them alone, and says that they are there", async () => {
    await submit("a", 2, { key: "k", concurrency: 1 });
    await submit("a", 1);
    const plain = await claim([pool(["a"])], false);
    expect(plain.tasks).toHaveLength(1);
    expect(plain.limited).toBe(true);
    expect(plain.nextDueAtMs).toBeLessThanOrEqual(plain.nowMs);
    expect((await claim([pool(["b"])], false)).limited).toBe(false);
    expect((await claim([pool(["a"], 0)])).limited).toBe(true);
  });

  test("the latest submit changes what a key allows", async () => {
    await submit("a", 5, { key: "k", concurrency: 1 });
    const first = await take(["a"]);
    await submit("a", 1, { key: "k", concurrency: 3 });
    expect(await take(["a"])).toHaveLength(2);
    await submit("a", 1, { key: "k", concurrency: 1 });
    await settle(first);
    // Two still run.
    expect(await take(["a"])).toEqual([]);
  });

  test("released tasks and expired leases make room again", async () => {
    await submit("a", 4, { key: "k", concurrency: 2 });
    await settle(await take(["a"]), "release");
    expect(await take(["a"])).toHaveLength(2);
    clock.advance(10_000);
    const claimed = await claim([pool(["a"])]);
    expect(claimed.recovered).toMatchObject([{ status: "queued" }, { status: "queued" }]);
    expect(claimed.tasks).toHaveLength(2);
  });

  test("starts above a rate wait for the window, and its end is when they are due", async () => {
    await submit("a", 10, { key: "k", rate: { count: 3, perMs: 1000 } });
    expect(await take(["a"], 2)).toHaveLength(2);
    clock.advance(400);
    expect(await take(["a"])).toHaveLength(1);
    const full = await claim([pool(["a"])]);
    expect(full).toMatchObject({ tasks: [], limited: true, nextDueAtMs: clock.nowMs + 600 });
    clock.advance(599);
    expect(await take(["a"])).toEqual([]);
    clock.advance(1);
    expect(await take(["a"])).toHaveLength(2);
    clock.advance(400);
    expect(await take(["a"])).toHaveLength(1);
    // What has left the window is forgotten.
    const [row] = await open.executor.run({
      sql: "select sum(tasks) as starts from wadi_limit_starts",
      params: [],
    });
    expect(Number(row!.starts)).toBe(3);
  });

  test("a task that is due later is due then, even if its key has room before", async () => {
    await submit("a", 1, { key: "k", rate: { count: 1, perMs: 1000 } }, { delayMs: 5000 });
    expect(await claim([pool(["a"])])).toMatchObject({ limited: true, nextDueAtMs: clock.nowMs + 5000 });
  });

  test("a claim that is sent again counts once", async () => {
    await submit("a", 4, { key: "k", concurrency: 3, rate: { count: 3, perMs: 1000 } });
    const { batch } = open.executor;
    open.executor.batch = async (statements) => {
      await batch(statements);
      open.executor.batch = batch;
      throw Object.assign(new Error("the connection was reset"), { code: "ECONNRESET" });
    };
    const { classify } = open.executor;
    open.executor.classify = (error) => (String(error).includes("was reset") ? "unknown" : classify(error));
    const tasks = await take(["a"], 2);
    expect(tasks).toHaveLength(2);
    await settle(tasks);
    expect(await take(["a"])).toHaveLength(1);
    expect(await take(["a"])).toEqual([]);
  });

  test("limits that a sweep forgot leave a task that comes back to run alone", async () => {
    await submit("a", 3, { key: "k", concurrency: 3 });
    await submit("a", 1, { key: "first", concurrency: 1 });
    const tasks = await wadi.list();
    for (const { id } of tasks) await wadi.cancel(id);
    const keys = async () =>
      (await open.executor.run({ sql: "select key from wadi_limits order by key", params: [] })).map(
        (row) => row.key,
      );
    await wadi.sweep([{ olderThanMs: 1e12 }]);
    expect(await keys()).toEqual(["first", "k"]);
    clock.advance(25 * 3_600_000);
    await wadi.sweep([{ olderThanMs: 1e12 }]);
    expect(await keys()).toEqual(["first"]);
    for (const { id } of tasks) await wadi.retry(id);
    const plain = await claim([pool(["a"])], false);
    expect(plain).toMatchObject({ tasks: [], limited: true });
    expect(await take(["a"])).toHaveLength(2);
    await submit("a", 1, { key: "k", concurrency: 2 });
    expect(await take(["a"])).toHaveLength(1);
  });

  test("a sweep keeps limits with tasks that wait or run, and with starts in the window", async () => {
    await submit("a", 1, { key: "a-first", concurrency: 3 });
    await submit("a", 1, { key: "waits", concurrency: 1 }, { queue: "mail" });
    await submit("a", 1, { key: "runs", concurrency: 1 });
    const dayMs = 24 * 3_600_000;
    await submit("a", 1, { key: "started", rate: { count: 1, perMs: 10 * dayMs } });
    const held = await storeOf(wadi).claim({
      pools: [pool(["a"])],
      ...{ workerId: "w:long", leaseMs: 90 * dayMs, limited: true },
    });
    await settle(held.tasks.filter(({ id }) => id !== held.tasks[1]!.id));
    clock.advance(2 * dayMs);
    await wadi.sweep([{ olderThanMs: 1e12 }]);
    const rows = await open.executor.run({ sql: "select key from wadi_limits order by key", params: [] });
    expect(rows.map(({ key }) => key)).toEqual(["a-first", "runs", "started", "waits"]);
  });
});
