// Which crashes count against a task, also where another SDK shares the tables.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ClaimRequest } from "../../../src/core/operations/claim.ts";
import { Wadi } from "../../../src/index.ts";
import { ManualClock } from "../../../testing/memory.ts";
import { storeOf } from "../../../testing/store.ts";
import type { OpenTarget } from "../../../testing/target.ts";
import { pickTargets } from "../../../testing/targets.ts";

const LEASE_MS = 1000;

describe.each(pickTargets(["better-sqlite3-memory", "d1", "pg"]))("on $name", (target) => {
  let open: OpenTarget;
  let wadi: Wadi;
  const clock = new ManualClock();
  let claims = 0;

  beforeAll(async () => {
    open = await target.open();
    wadi = new Wadi(open.executor, { clock: clock.read });
    await wadi.migrate();
  });
  beforeEach(() => run("delete from cairnq_tasks"));
  afterAll(() => open.close());

  const run = (sql: string) => open.executor.run({ sql, params: [] });
  const task = async (id: string) => (await wadi.get(id))!;

  function claim(limit: number, prefetch = 0, fields: Partial<ClaimRequest> = {}) {
    const lanes = [{ queue: "default", name: "job", quota: limit, prefetch }];
    const request = { pools: [{ lanes, limit, prefetch }], workerId: `w:${++claims}`, leaseMs: LEASE_MS };
    return storeOf(wadi).claim({ ...request, limited: false, announces: true, ...fields });
  }

  async function expire(): Promise<void> {
    clock.advance(LEASE_MS + 1);
    await claim(0);
  }

  /** As a reference SDK does it: it does not know Wadi's own columns. */
  async function submitElsewhere(id: string, maxAttempts: number): Promise<void> {
    const now = clock.read();
    await run(`
      insert into cairnq_tasks (
        id, name, queue, status, payload, metadata, max_attempts, run_at_ms, root_id, created_at_ms, updated_at_ms
      )
      values ('${id}', 'job', 'default', 'queued', '{}', '{}', ${maxAttempts}, ${now}, '${id}', ${now}, ${now})`);
  }

  test("crashes do not limit what another SDK submitted, its attempts do", async () => {
    await submitElsewhere("task_x", 5);
    for (let attempt = 1; attempt <= 5; attempt++) {
      expect((await claim(1, 0, { announces: false })).tasks).toMatchObject([{ attempt, maxCrashes: null }]);
      await expire();
    }
    expect(await task("task_x")).toMatchObject({ status: "failed", error: { code: "lease_expired" } });
  });

  test("a write that resets the attempts of a task resets its crashes too", async () => {
    const { id } = await wadi.submit("job", 1, { maxAttempts: 10 });
    for (let crash = 0; crash < 2; crash++) {
      await claim(1, 0, { announces: false });
      await expire();
    }
    expect(await task(id)).toMatchObject({ status: "queued", crashes: 2 });
    await run("update cairnq_tasks set attempt = 0");
    expect((await claim(1, 0, { announces: false })).tasks).toMatchObject([{ attempt: 1, crashes: 0 }]);
    await expire();
    expect(await task(id)).toMatchObject({ status: "queued", attempt: 1, crashes: 1 });
  });

  test("also if another SDK claimed it since", async () => {
    const { id } = await wadi.submit("job", 1);
    await run(
      `update cairnq_tasks set crashes = 2, attempt = 1, status = 'running', worker_id = 'other',
        lease_until_ms = ${clock.read()}`,
    );
    await expire();
    expect(await task(id)).toMatchObject({ status: "queued", attempt: 1, crashes: 1 });
  });

  test("a prefetched task is not charged for a lost claim, unless its start was announced", async () => {
    await wadi.submitMany("job", Array(10).fill({ payload: 1, maxAttempts: 1 }));
    const { tasks, claimed } = await claim(10, 7);
    expect(claimed.map(({ isOnHold }) => isOnHold)).toEqual([false, false, false, ...Array(7).fill(true)]);
    const { id, workerId, attempt } = tasks[5]!;
    const started = await storeOf(wadi).settle([{ id, workerId: workerId!, attempt, outcome: "start" }]);
    expect(started).toEqual([{ id, status: "running" }]);
    await expire();
    const after = await Promise.all(tasks.map((each) => task(each.id)));
    // The announced one, and all of its claim before it.
    expect(after.map(({ status }) => status)).toEqual([
      ...Array(6).fill("failed"),
      ...Array(4).fill("queued"),
    ]);
    for (const [i, each] of after.entries()) {
      const isCharged = i < 6;
      expect(each).toMatchObject({ attempt: Number(isCharged), crashes: Number(isCharged) });
      expect(each.runAtMs).toBe(tasks[i]!.runAtMs);
      expect(await wadi.failures(each.id)).toHaveLength(Number(isCharged));
    }
  });

  test("a task whose worker vanished before is on hold, and charged only once its start was announced", async () => {
    const { id } = await wadi.submit("job", 1, { maxAttempts: 5, maxCrashes: 5 });
    await claim(1);
    await expire();
    for (const isAnnounced of [false, true]) {
      const { tasks, claimed } = await claim(1);
      expect(claimed.map(({ isOnHold }) => isOnHold)).toEqual([true]);
      const { workerId, attempt } = tasks[0]!;
      const start = { id, workerId: workerId!, attempt, outcome: "start" } as const;
      if (isAnnounced) await storeOf(wadi).settle([start]);
      await expire();
      const count = 1 + Number(isAnnounced);
      expect(await task(id)).toMatchObject({ status: "queued", attempt: count, crashes: count });
    }
  });

  test("a hold counts for the claim that made it alone", async () => {
    const { id } = await wadi.submit("job", 1);
    await claim(1, 1);
    // Another SDK takes it from its worker, and vanishes with it.
    await run(`update cairnq_tasks set worker_id = 'other', attempt = 2, lease_until_ms = ${clock.read()}`);
    await expire();
    expect(await task(id)).toMatchObject({ status: "queued", attempt: 2, crashes: 1 });
  });

  test("a held task whose cancel was asked for is canceled", async () => {
    const { id } = await wadi.submit("job", 1);
    await claim(1, 1);
    await wadi.cancel(id);
    await expire();
    expect(await task(id)).toMatchObject({ status: "canceled" });
  });
});
