// Parents, roots and correlations of tasks.

import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { betterSqlite3 } from "../../../src/drivers/better-sqlite3.ts";
import { isCanceled, isFailed, isSucceeded, TaskError, Wadi, Worker } from "../../../src/index.ts";

const open = () => new Wadi(betterSqlite3(new Database(":memory:")));

it("a submit outside a handler may name its parent and the root of the family", async () => {
  const wadi = open();
  const root = await wadi.submit("a", null);
  const child = await wadi.submit("b", null, { parentId: root.id });
  const [grandchild] = await wadi.submitMany("c", [{ payload: 1, parentId: child.id, rootId: root.id }]);
  expect(child).toMatchObject({ parentId: root.id, rootId: root.id });
  expect(grandchild).toMatchObject({ parentId: child.id, rootId: root.id });
  expect(await wadi.list({ rootId: root.id })).toHaveLength(3);
  const keyed = await wadi.submit("b", null, { key: "k", parentId: root.id });
  expect(await wadi.getByKey("k")).toMatchObject({ id: keyed.id, parentId: root.id, rootId: root.id });
});

it.each([
  [{ rootId: "r" }, "rootId needs parentId; pass both"],
  [{ parentId: "" }, 'parentId must be a non-empty string, got ""'],
  [{ parentId: 5 as never }, "parentId must be a non-empty string, got 5"],
])("refuses %j", async (options, message) => {
  await expect(open().submit("a", null, options)).rejects.toThrow(message);
});

it("a child of a handler has its parent from its context, and names no other", async () => {
  const wadi = open();
  const { id } = await wadi.submit("a", null);
  const worker = new Worker(wadi).task("a", (context) =>
    context.submit("b", null, { parentId: "other" }).then(
      () => "submitted",
      (error: Error) => error.message,
    ),
  );
  await worker.drain();
  expect((await wadi.get(id))!.result).toMatch(/^context.submit sets parentId and rootId itself/);
});

it("predicates narrow how a task ended", async () => {
  const wadi = open();
  const done = await wadi.submit("good", null);
  const broken = await wadi.submit("bad", null);
  const dropped = await wadi.submit("good", null, { delayMs: 60_000 });
  await wadi.cancel(dropped.id);
  const worker = new Worker(wadi, { logger: null })
    .task("good", () => 1)
    .task("bad", () => {
      throw new TaskError("no", { retryable: false });
    });
  await worker.drain();
  const tasks = await Promise.all([done, broken, dropped].map(async ({ id }) => (await wadi.get(id))!));
  expect(tasks.map(isSucceeded)).toEqual([true, false, false]);
  expect(tasks.map(isFailed)).toEqual([false, true, false]);
  expect(tasks.map(isCanceled)).toEqual([false, false, true]);
});
