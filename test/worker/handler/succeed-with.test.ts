// Rows that are committed with a settlement, on every database.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Executor } from "../../../src/core/executor.ts";
import { Wadi } from "../../../src/index.ts";
import { internalsOf } from "../../../src/producer/internals.ts";
import { commitSuccess } from "../../../src/worker/handler/succeed-with.ts";
import { claim, claimed, type OwnRows, openOwnRows } from "../../../testing/ledger.ts";
import { type Loss, lossy } from "../../../testing/lossy-executor.ts";
import { ManualClock } from "../../../testing/memory.ts";
import { storeOf } from "../../../testing/store.ts";
import { pickTargets } from "../../../testing/targets.ts";

describe.each(pickTargets())("own rows with a settlement, $name", (target) => {
  const clock = new ManualClock();
  let db: OwnRows;

  beforeEach(async () => {
    db = await openOwnRows(target, { clock: clock.read });
  });
  afterEach(() => db.close());

  test("are committed with it, in one round trip", async () => {
    const task = await claimed(db.wadi);
    const before = db.target.meter().roundTrips;
    await commitSuccess(internalsOf(db.wadi).session, task, [db.insert("a"), db.insert("b")], '{"ok":[1]}');
    expect(db.target.meter().roundTrips - before).toBe(1);
    expect(await db.ledger()).toEqual(["a", "b"]);
    expect(await db.wadi.get(task.id)).toMatchObject({
      status: "succeeded",
      result: { ok: [1] },
      progress: 1,
      error: null,
      attempt: 1,
      workerId: task.workerId,
      leaseUntilMs: null,
      completedAtMs: clock.nowMs,
    });
  });

  test("are refused once another worker has the task, whose attempt goes on", async () => {
    const task = await claimed(db.wadi, 1000);
    clock.advance(2000);
    const other = await db.other();
    const [again] = await claim(other);
    expect(again).toMatchObject({ id: task.id, attempt: 2 });
    const refused = commitSuccess(internalsOf(db.wadi).session, task, [db.insert("a")], "1");
    await expect(refused).rejects.toMatchObject({ name: "LostLease", taskId: task.id });
    expect(await db.ledger()).toEqual([]);
    await commitSuccess(internalsOf(other).session, again!, [db.insert("b")], "2");
    expect(await db.ledger()).toEqual(["b"]);
    expect(await db.wadi.get(task.id)).toMatchObject({ status: "succeeded", result: 2 });
  });

  test.each([
    ["its lease has expired, and no other worker has the task", () => clock.advance(60_000)],
    [
      "it is settled",
      async (wadi: Wadi, { id, workerId, attempt }: { id: string; workerId: string; attempt: number }) => {
        await storeOf(wadi).settle([{ id, workerId, attempt, outcome: "succeed", resultJson: "0" }]);
      },
    ],
    ["its row is gone", (_: Wadi) => db.run("delete from cairnq_tasks")],
  ] as const)("are refused once %s", async (_, lose) => {
    const task = await claimed(db.wadi);
    await lose(db.wadi, { ...task, workerId: task.workerId! });
    const refused = commitSuccess(internalsOf(db.wadi).session, task, [db.insert("a")], "1");
    await expect(refused).rejects.toMatchObject({ name: "LostLease" });
    expect(await db.ledger()).toEqual([]);
  });

  test("are refused once a cancel was requested", async () => {
    const task = await claimed(db.wadi);
    await db.wadi.cancel(task.id);
    const refused = commitSuccess(internalsOf(db.wadi).session, task, [db.insert("a")], "1");
    await expect(refused).rejects.toMatchObject({ name: "TaskCanceled", code: "TASK_CANCELED" });
    expect(await db.ledger()).toEqual([]);
    expect(await db.wadi.get(task.id)).toMatchObject({ status: "running" });
  });

  test("that the database refuses leave the attempt open", async () => {
    const task = await claimed(db.wadi);
    await db.run("insert into ledger (id) values ('taken')");
    const statements = [db.insert("a"), db.insert("taken")];
    const refused = commitSuccess(internalsOf(db.wadi).session, task, statements, "1");
    await expect(refused).rejects.toMatchObject({
      name: "DriverError",
      retryable: false,
      message: expect.stringMatching(/^succeedWith failed on \S+: the database refused it/),
      cause: expect.anything(),
    });
    const missing = commitSuccess(
      internalsOf(db.wadi).session,
      task,
      [{ sql: "delete from no_such_table" }],
      "1",
    );
    await expect(missing).rejects.toMatchObject({ name: "DriverError", retryable: false });
    const { sql } = db.insert("b");
    for (const params of [[], ["b", "c", "d"]]) {
      const miscounted = commitSuccess(internalsOf(db.wadi).session, task, [{ sql, params }], "1");
      await expect(miscounted).rejects.toMatchObject({ retryable: false });
    }
    expect(await db.ledger()).toEqual(["taken"]);
    expect(await db.wadi.get(task.id)).toMatchObject({ status: "running" });
    await commitSuccess(internalsOf(db.wadi).session, task, [db.insert("a")], "1");
    expect(await db.ledger()).toEqual(["a", "taken"]);
  });

  test("may be none", async () => {
    const task = await claimed(db.wadi);
    await commitSuccess(internalsOf(db.wadi).session, task, [], "null");
    expect(await db.wadi.get(task.id)).toMatchObject({ status: "succeeded", result: null });
  });

  describe("when the answer is lost", () => {
    const retry = { tries: 3, baseMs: 1, capMs: 1 };
    const losing = (losses: Loss[]) =>
      new Wadi(lossy(db.executor, () => losses.shift() ?? null) as Executor, {
        clock: clock.read,
        requestRetry: retry,
      });

    test("after the commit, are there once, and the caller learns of its success", async () => {
      const task = await claimed(db.wadi);
      const wadi = losing([null, "after"]);
      await wadi.getStatus("none");
      await commitSuccess(
        internalsOf(wadi).session,
        task,
        [db.insert("a"), { sql: "update ledger set n = n + 1" }],
        "7",
      );
      expect(await db.run("select id, n from ledger")).toMatchObject([{ id: "a", n: expect.anything() }]);
      expect(Number((await db.run("select n from ledger"))[0]!.n)).toBe(2);
      expect(await db.wadi.get(task.id)).toMatchObject({ status: "succeeded", result: 7 });
    });

    test("before it was sent, are sent again", async () => {
      const task = await claimed(db.wadi);
      const wadi = losing([null, "before", "busy"]);
      await wadi.getStatus("none");
      await commitSuccess(internalsOf(wadi).session, task, [db.insert("a")], "7");
      expect(await db.ledger()).toEqual(["a"]);
    });

    test("and another worker has the task by then, are refused", async () => {
      const task = await claimed(db.wadi, 1000);
      let stolen = false;
      const executor = lossy(db.executor, (request) => (request === 2 ? "before" : null));
      const wadi = new Wadi(
        {
          ...executor,
          classify: (error) => {
            const kind = executor.classify(error);
            return kind === "unavailable" ? "unknown" : kind;
          },
          async batch(statements) {
            if (executor.requests === 2 && !stolen) {
              stolen = true;
              clock.advance(2000);
              await claim(db.wadi);
            }
            return executor.batch(statements);
          },
        },
        { clock: clock.read, requestRetry: retry },
      );
      await wadi.getStatus("none");
      const refused = commitSuccess(internalsOf(wadi).session, task, [db.insert("a")], "7");
      await expect(refused).rejects.toMatchObject({ name: "LostLease" });
      expect(stolen).toBe(true);
      expect(await db.ledger()).toEqual([]);
    });
  });

  test("would be written without the fence", async () => {
    // What the tests above see if the fence lets everybody through.
    const { protocol } = db.executor;
    const open = { sql: "select null as refusal", params: [] };
    const unfenced = new Wadi(
      {
        ...db.executor,
        protocol: { ...protocol, statements: { ...protocol.statements, fence_lease: open } },
      },
      { clock: clock.read },
    );
    const task = await claimed(db.wadi, 1000);
    clock.advance(2000);
    await claim(db.wadi);
    await commitSuccess(internalsOf(unfenced).session, task, [db.insert("a")], "1");
    expect(await db.ledger()).toEqual(["a"]);
    expect(await db.wadi.get(task.id)).toMatchObject({ status: "running", attempt: 2 });
  });
});
