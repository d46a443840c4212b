// The cells of snooze and onFailed.

import { expect } from "vitest";
import { InvalidArgument, type TaskContext, Worker } from "../../src/index.ts";
import {
  type CellTests,
  children,
  claimForeign,
  drain,
  endForeign,
  refuse,
  statusOf,
  submit,
} from "./place.ts";

export const SNOOZE_AND_ON_FAILED: CellTests = {
  async "snooze × onFailed"(place) {
    const task = await submit(place, { onFailed: "alert", maxAttempts: 1 });
    await drain(place, ({ snooze }) => snooze(60_000));
    expect(await children(place, task)).toEqual([]);
  },

  async "snooze × keys"(place) {
    const key = `${place.queue} key`;
    const task = await submit(place, { key });
    await drain(place, ({ snooze }) => snooze(60_000));
    expect(await submit(place, { key })).toMatchObject({ id: task.id, outcome: "reused" });
    const debounced = await place.wadi.submit(
      "a",
      { n: 2 },
      { queue: place.queue, key, debounce: { delayMs: 5 } },
    );
    expect(debounced).toMatchObject({ id: task.id, outcome: "debounced", runAtMs: place.clock.nowMs + 5 });
  },

  async "snooze × limits"(place) {
    const rate = { count: 2, perMs: 600_000 };
    const limits = { key: place.limitKey, concurrency: 1, rate };
    for (const priority of [3, 2, 1]) await submit(place, { limits, priority });
    // The first gives up its place for the second; both starts count, so the third has to wait.
    const summary = await drain(place, ({ snooze }) => snooze(60_000), { concurrency: 1 });
    expect(summary).toMatchObject({ claimed: 2, snoozed: 2 });
  },

  async "snooze × batch"(place) {
    const one = await submit(place);
    const two = await submit(place);
    const batch = (contexts: readonly TaskContext[]) => {
      contexts.find(({ id }) => id === one.id)!.snooze(60_000);
    };
    const { wadi, queue } = place;
    await new Worker(wadi, { queues: [queue] }).task("a", batch, { batch: 5 }).drain();
    expect([await statusOf(place, one), await statusOf(place, two)]).toEqual(["queued", "succeeded"]);
  },

  async "snooze × succeedWith"(place) {
    const task = await submit(place);
    const meta = { sql: `insert into cairnq_meta (key, value) values ('${place.queue}', 'x')` };
    await drain(place, async ({ snooze, succeedWith }) => {
      snooze(60_000);
      await expect(succeedWith([meta])).rejects.toThrow(InvalidArgument);
    });
    expect(await statusOf(place, task)).toBe("queued");
    expect(await place.run(`select key from cairnq_meta where key = '${place.queue}'`)).toEqual([]);
  },

  async "snooze × another SDK"(place) {
    const task = await submit(place);
    await drain(place, ({ snooze }) => snooze(60_000));
    const columns = "status, worker_id, lease_until_ms, completed_at_ms, error";
    const [row] = (await place.run(
      `select ${columns} from cairnq_tasks where id = '${task.id}'`,
    )) as object[];
    const none = { worker_id: null, lease_until_ms: null, completed_at_ms: null, error: null };
    expect(row).toEqual({ status: "queued", ...none });
    await claimForeign(place, task);
    await endForeign(place, task, "succeeded");
    expect(await statusOf(place, task)).toBe("succeeded");
  },

  async "onFailed × keys"(place) {
    const key = `${place.queue} key`;
    const task = await submit(place, { key, onFailed: "alert" });
    await drain(place, refuse);
    const [child] = await children(place, task);
    expect(child!.payload).toMatchObject({ task: { key } });
    expect((await place.wadi.getByKey(key))?.id).toBe(task.id);
  },

  async "onFailed × limits"(place) {
    const limits = { key: place.limitKey, concurrency: 1 };
    await submit(place, { limits, onFailed: "alert", priority: 1 });
    await submit(place, { limits });
    expect(await drain(place, ({ task }) => (task.priority === 1 ? refuse() : 1))).toMatchObject({
      failed: 1,
      succeeded: 1,
    });
    const limited = {
      name: "b",
      queue: "q",
      maxAttempts: 1,
      maxCrashes: 1,
      priority: 0,
      expiresInMs: null,
      limits,
    };
    await expect(submit(place, { onFailed: limited })).rejects.toThrow(/has limits/);
  },

  async "onFailed × batch"(place) {
    const tasks = [await submit(place, { onFailed: "alert" }), await submit(place, { onFailed: "alert" })];
    const { wadi, queue } = place;
    await new Worker(wadi, { queues: [queue], logger: null }).task("a", refuse, { batch: 5 }).drain();
    for (const task of tasks) expect(await children(place, task)).toHaveLength(1);
  },

  async "onFailed × another SDK"(place) {
    const task = await submit(place, { onFailed: "alert" });
    await claimForeign(place, task);
    await endForeign(place, task, "failed");
    expect(await children(place, task)).toHaveLength(1);
  },
};
