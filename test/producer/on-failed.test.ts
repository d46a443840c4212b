// `onFailed`: a task that the database submits when another has failed for good, on every engine and for each way out.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineTask, type OnFailedPayload, TaskError, Wadi, Worker } from "../../src/index.ts";
import { lossy } from "../../testing/lossy-executor.ts";
import { ManualClock, memoryWadi } from "../../testing/memory.ts";
import { storeOf } from "../../testing/store.ts";
import type { OpenTarget } from "../../testing/target.ts";
import { pickTargets } from "../../testing/targets.ts";

const alert = defineTask<OnFailedPayload>({ name: "alert", queue: "alerts", maxAttempts: 5, priority: 7 });
const charge = defineTask<{ order: number }>({ name: "charge", onFailed: alert });
const QUICK = { backoff: { baseMs: 1, capMs: 1 } };

const refuse = () => {
  throw new TaskError("no funds", { retryable: false, code: "declined" });
};

describe.each(pickTargets().map((target) => [target.name, target] as const))("on %s", (_, target) => {
  let opened: OpenTarget;
  beforeAll(async () => {
    opened = await target.open();
  });
  afterAll(() => opened?.close());

  test("each way to a final failure submits it once, in the family of the failed task", async () => {
    const clock = new ManualClock();
    const wadi = new Wadi(opened.executor, { clock: clock.read });
    const children = async (id: string) =>
      (await wadi.list({ rootId: id })).filter(({ parentId }) => parentId === id);
    const worker = new Worker(wadi, QUICK).task(charge, refuse);

    // Settled as failed.
    const options = { key: "order:7", correlationId: "c", metadata: { tenant: "t" }, priority: 1 };
    const refused = await wadi.submit(charge, { order: 7 }, options);
    await worker.drain();
    const [submitted, ...more] = await children(refused.id);
    expect(more).toEqual([]);
    expect(submitted).toMatchObject({
      name: "alert",
      queue: "alerts",
      status: "queued",
      maxAttempts: 5,
      maxCrashes: 3,
      priority: 7,
      parentId: refused.id,
      rootId: refused.id,
      correlationId: "c",
      metadata: { tenant: "t" },
      runAtMs: clock.nowMs,
      createdAtMs: clock.nowMs,
    });
    const error = expect.objectContaining({ code: "declined", message: "no funds", retryable: false });
    const task = {
      id: refused.id,
      name: "charge",
      queue: "default",
      key: "order:7",
      attempts: 1,
      crashes: 0,
    };
    expect(submitted!.payload).toEqual({ task, error });
    expect(submitted!.id).toMatch(/^task_[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(submitted!.id.slice(5, 15)).toBe(ulidTime(clock.nowMs));

    // Failed again after a retry: submitted again.
    await wadi.retry(refused.id, { resetAttempt: true });
    await worker.drain();
    expect(await children(refused.id)).toHaveLength(2);

    // A lease that expired on the last attempt.
    const lost = await wadi.submit(charge, { order: 8 }, { maxAttempts: 1 });
    const claim = { queue: "default", name: "charge", quota: 1 };
    const request = { pools: [{ lanes: [claim], limit: 1 }], workerId: "w:1", leaseMs: 1000, limited: false };
    expect((await storeOf(wadi).claim(request)).tasks).toHaveLength(1);
    clock.advance(2000);
    await worker.drain();
    expect((await children(lost.id)).map(({ payload }) => payload)).toMatchObject([
      { task: { id: lost.id, key: null }, error: { code: "lease_expired" } },
    ]);

    // Another SDK's own statement.
    const foreign = await wadi.submit(charge, { order: 9 }, { delayMs: 60_000 });
    const text =
      "update cairnq_tasks set status = 'failed', completed_at_ms = 5, updated_at_ms = 5 where id =";
    // Sent twice, as after a lost answer.
    for (let send = 0; send < 2; send++)
      await opened.executor.run({ sql: `${text} '${foreign.id}' returning id`, params: [] });
    expect((await children(foreign.id)).map(({ payload }) => payload)).toMatchObject([
      { task: { id: foreign.id, attempts: 0 }, error: null },
    ]);

    // The other ends.
    const canceled = await wadi.submit(charge, { order: 10 });
    await wadi.cancel(canceled.id);
    const succeeded = await wadi.submit("other", null, { onFailed: "alert" });
    await new Worker(wadi).task("other", () => 1).drain();
    const without = await wadi.submit(charge, { order: 11 }, { onFailed: null });
    await worker.drain();
    expect((await wadi.get(without.id))?.status).toBe("failed");
    for (const { id } of [canceled, succeeded, without]) expect(await children(id)).toEqual([]);
  });

  test("submits of many, with keys and debounced store it", async () => {
    const wadi = new Wadi(opened.executor);
    const children = async (id: string) => (await wadi.list({ rootId: id })).length - 1;
    const many = await wadi.submitMany(charge, [
      { payload: { order: 1 } },
      { payload: { order: 2 }, key: "k" },
    ]);
    const debounce = { delayMs: 1 };
    const first = await wadi.submit("charge", { order: 3 }, { key: "d", debounce });
    const second = await wadi.submit(charge, { order: 4 }, { key: "d", debounce });
    expect(second.id).toBe(first.id);
    await wadi.submitMany(charge, [{ payload: { order: 5 }, key: "b" }, { payload: { order: 6 } }]);
    await new Worker(wadi, QUICK).task(charge, refuse).drain();
    await new Promise((resolve) => setTimeout(resolve, 5));
    await new Worker(wadi, QUICK).task(charge, refuse).drain();
    expect(await Promise.all([...many, second].map(({ id }) => children(id)))).toEqual([1, 1, 1]);
  });
});

test("a failed task that onFailed submitted submits nothing", async () => {
  const wadi = memoryWadi();
  const pager = defineTask({ name: "pager" });
  const alarm = defineTask<OnFailedPayload>({ name: "alarm", onFailed: pager });
  const ran: string[] = [];
  const fail = ({ task }: { task: { name: string } }) => {
    ran.push(task.name);
    refuse();
  };
  const { id } = await wadi.submit("a", null, { onFailed: alarm });
  await new Worker(wadi).task("a", fail).task(alarm, fail).task(pager, fail).drain();
  expect(ran).toEqual(["a", "alarm"]);
  expect(await wadi.list({ rootId: id })).toHaveLength(2);
});

test.each(["after", "before"] as const)(
  "an answer that is lost %s the commit submits it once",
  async (loss) => {
    const wadi = memoryWadi();
    const { id } = await wadi.submit(charge, { order: 1 });
    const executor = lossy(wadi.executor, (request) => (request % 2 === 0 ? loss : null));
    const unlucky = new Wadi(executor, { requestRetry: { tries: 5, baseMs: 1, capMs: 1 } });
    await new Worker(unlucky, { logger: null }).task(charge, refuse).drain();
    expect((await wadi.get(id))?.status).toBe("failed");
    expect(await wadi.list({ rootId: id })).toHaveLength(2);
  },
);

test("the task that failed is committed together with the one it submits", async () => {
  const wadi = memoryWadi();
  const { id } = await wadi.submit(charge, { order: 1 });
  await new Worker(wadi).task(charge, refuse).drain();
  const [alerted] = await wadi.list({ name: "alert" });
  expect(alerted!.createdAtMs).toBe((await wadi.get(id))!.completedAtMs);
});

test.each([
  [5, /onFailed must be a task name, or the result of defineTask/],
  [{ name: "a" }, /onFailed must be a task name, or the result of defineTask/],
  ["", /onFailed/],
  [defineTask({ name: "a", limits: { key: "k", concurrency: 1 } }), /onFailed names "a", which has limits/],
])("refuses %s", async (onFailed, message) => {
  expect(() => defineTask({ name: "b", onFailed: onFailed as never })).toThrow(message);
  await expect(memoryWadi().submit("b", null, { onFailed: onFailed as never })).rejects.toThrow(message);
});

/** The ten characters with which a ULID of this time begins. */
function ulidTime(ms: number): string {
  const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  let text = "";
  for (let rest = ms, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) text = digits[rest % 32] + text;
  return text;
}
