// The protocol's limits in time hold to the millisecond.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { internalsOf } from "../../src/producer/internals.ts";
import { Wadi } from "../../src/producer/wadi.ts";
import { type MovableClock, movableClock } from "../../testing/conformance/clock.ts";
import { storeOf } from "../../testing/store.ts";
import type { OpenTarget } from "../../testing/target.ts";
import { pickTargets } from "../../testing/targets.ts";

const PURGE = { olderThanMs: 1000 };

/** Rules that the scenario format has no words for: the exact millisecond, and tasks with a parent. */
describe.each(pickTargets(["better-sqlite3-memory", "pg"]))("on $name", (target) => {
  let open: OpenTarget;
  let clock: MovableClock;
  let wadi: Wadi;

  beforeAll(async () => {
    open = await target.open();
  });

  afterAll(() => open?.close());

  beforeEach(async () => {
    clock = movableClock(1_800_000_000_000);
    wadi = new Wadi(open.executor, { clock: clock.now });
    await wadi.migrate();
    await open.executor.run({ sql: "delete from cairnq_tasks", params: [] });
  });

  async function claim(workerId: string) {
    const lanes = [{ queue: "default", name: null, quota: 1 }];
    return (
      await storeOf(wadi).claim({
        pools: [{ lanes, limit: 1 }],
        workerId,
        leaseMs: 1000,
        limited: false,
      })
    ).tasks[0];
  }

  it("a task is due in the millisecond it says", async () => {
    await wadi.submit("job", 1, { delayMs: 1000 });
    clock.advance(999);
    expect(await claim("w1")).toBeUndefined();
    clock.advance(1);
    expect(await claim("w1")).toMatchObject({ status: "running", leaseUntilMs: clock.now() + 1000 });
  });

  it("a lease holds until the millisecond before its end, and is recovered in that of its end", async () => {
    const { id } = await wadi.submit("job", 1);
    const { attempt } = (await claim("w1"))!;
    const held = { id, workerId: "w1" };
    clock.advance(999);
    expect(await claim("w2")).toBeUndefined();
    expect(await storeOf(wadi).heartbeat([held], 1000)).toHaveLength(1);
    clock.advance(1000);
    expect(await storeOf(wadi).heartbeat([held], 1000)).toEqual([]);
    expect(await storeOf(wadi).progress(held, { progress: 0.5, message: null })).toBeNull();
    const settlement = { ...held, attempt, outcome: "complete", resultJson: "1" } as const;
    expect(await storeOf(wadi).settle([settlement])).toEqual([{ id, status: null }]);
    expect(await claim("w2")).toMatchObject({ id, attempt: 2, workerId: "w2" });
  });

  it("a requeue is due after exactly its delay", async () => {
    const { id } = await wadi.submit("job", 1);
    const { attempt } = (await claim("w1"))!;
    const error = { type: "Error", code: "handler_error", message: "x", retryable: true, details: null };
    await storeOf(wadi).settle([{ id, workerId: "w1", attempt, outcome: "retry", error, delayMs: 250 }]);
    expect((await wadi.get(id))!.runAtMs).toBe(clock.now() + 250);
  });

  it("a purge spares what completed exactly as long ago as it says", async () => {
    const { id } = await wadi.submit("job", 1);
    await wadi.cancel(id);
    clock.advance(1000);
    expect(await wadi.purge(PURGE)).toBe(0);
    clock.advance(1);
    expect(await wadi.purge(PURGE)).toBe(1);
  });

  it("statistics of named queues hold those queues and no other", async () => {
    const zero = { queued: 0, running: 0, succeeded: 0, failed: 0, canceled: 0 };
    await wadi.submit("job", 1);
    await claim("w1");
    const { id } = await wadi.submit("job", 2, { queue: "done" });
    await wadi.cancel(id);
    await wadi.submit("job", 3, { queue: "mail" });
    expect(await wadi.stats(["mail", "none"])).toEqual({ mail: { ...zero, queued: 1 }, none: zero });
  });

  it("a list by root holds the root and all below it, and nothing for one who is no root", async () => {
    const root = await wadi.submit("job", 1);
    const lineage = { parentId: root.id, rootId: root.id, correlationId: "order-1" };
    const child = await internalsOf(wadi).submitter.submit({ lineage, task: "job", payload: 2 });
    const grandchild = await internalsOf(wadi).submitter.submit({
      lineage: { ...lineage, parentId: child.id },
      task: "job",
      payload: 3,
    });
    await wadi.submit("job", 4);
    const ids = async (rootId: string) => (await wadi.list({ rootId })).map(({ id }) => id);
    expect(await ids(root.id)).toEqual([grandchild.id, child.id, root.id]);
    expect(await ids(child.id)).toEqual([]);
    expect(await wadi.list({ correlationId: "order-1" })).toHaveLength(2);
  });
});
