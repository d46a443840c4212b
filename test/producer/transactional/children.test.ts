// Submits by a handler, which are bound to its attempt.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Task, Worker } from "../../../src/index.ts";
import { internalsOf } from "../../../src/producer/internals.ts";
import { claim, claimed, type OwnRows, openOwnRows } from "../../../testing/ledger.ts";
import { ManualClock } from "../../../testing/memory.ts";
import { pickTargets } from "../../../testing/targets.ts";

describe.each(pickTargets())("children of an attempt, $name", (target) => {
  const clock = new ManualClock();
  let db: OwnRows;

  beforeEach(async () => {
    db = await openOwnRows(target, { clock: clock.read });
  });
  afterEach(() => db.close());

  function lineage(parent: Task) {
    const held = { id: parent.id, workerId: parent.workerId! };
    return { parentId: parent.id, rootId: parent.rootId!, correlationId: parent.correlationId, held };
  }

  const children = async (parent: Task) =>
    (await db.wadi.list({ rootId: parent.id })).filter(({ parentId }) => parentId === parent.id);

  test("are queued in one round trip, also several of a tick and with keys", async () => {
    const parent = await claimed(db.wadi);
    const of = lineage(parent);
    const before = db.target.meter().roundTrips;
    await internalsOf(db.wadi).submitter.submit({ lineage: of, task: "child", payload: 1 });
    expect(db.target.meter().roundTrips - before).toBe(1);
    const [a, b] = await Promise.all([
      internalsOf(db.wadi).submitter.submit({ lineage: of, task: "child", payload: 2 }),
      internalsOf(db.wadi).submitter.submit({ lineage: of, task: "child", payload: 3 }),
    ]);
    expect(db.target.meter().roundTrips - before).toBe(2);
    const keyed = await internalsOf(db.wadi).submitter.submit({
      lineage: of,
      task: "child",
      payload: 4,
      options: { key: "k" },
    });
    expect(db.target.meter().roundTrips - before).toBe(3);
    expect([a, b, keyed].map(({ outcome }) => outcome)).toEqual(["created", "created", "created"]);
    expect((await children(parent)).map(({ payload }) => payload).sort()).toEqual([1, 2, 3, 4]);
    expect(await children(parent)).toContainEqual(
      expect.objectContaining({ parentId: parent.id, rootId: parent.id }),
    );
  });

  test("of a handler share a round trip where they are submitted in one tick", async () => {
    let spent = 0;
    const worker = new Worker(db.wadi).task("parent", async ({ submit }) => {
      const before = db.target.meter().roundTrips;
      await Promise.all([1, 2, 3].map((n) => submit("child", n)));
      spent = db.target.meter().roundTrips - before;
    });
    await db.wadi.submit("parent", null);
    await worker.drain();
    expect(spent).toBe(1);
  });

  test("are refused once another has the task, though their parent's worker does not know", async () => {
    const parent = await claimed(db.wadi, 1000);
    const of = lineage(parent);
    clock.advance(2000);
    const [again] = await claim(await db.other());
    for (const options of [{}, { key: "k" }, { key: "r", conflict: "replace" as const }]) {
      const refused = internalsOf(db.wadi).submitter.submit({
        lineage: of,
        task: "child",
        payload: null,
        options,
      });
      await expect(refused).rejects.toMatchObject({ name: "LostLease", taskId: parent.id });
    }
    expect(await children(parent)).toEqual([]);
    await internalsOf(db.wadi).submitter.submit({
      lineage: lineage(again!),
      task: "child",
      payload: null,
      options: { key: "k" },
    });
    expect(await children(parent)).toHaveLength(1);
  });

  test("are refused by themselves: what others submit in the same tick is queued", async () => {
    const lost = await claimed(db.wadi, 1000);
    clock.advance(2000);
    await claim(db.wadi);
    const live = await claimed(db.wadi);
    const outcomes = await Promise.allSettled([
      db.wadi.submit("plain", 1),
      internalsOf(db.wadi).submitter.submit({ lineage: lineage(lost), task: "child", payload: 2 }),
      internalsOf(db.wadi).submitter.submit({ lineage: lineage(live), task: "child", payload: 3 }),
      db.wadi.submit("plain", 4, { key: "k" }),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
    expect((await db.wadi.list({ status: "queued" })).map(({ payload }) => payload).sort()).toEqual([
      1, 3, 4,
    ]);
  });

  test("are queued although a cancel of their parent was requested", async () => {
    const parent = await claimed(db.wadi);
    await db.wadi.cancel(parent.id);
    expect(
      await internalsOf(db.wadi).submitter.submit({ lineage: lineage(parent), task: "child", payload: null }),
    ).toMatchObject({ outcome: "created" });
  });
});
