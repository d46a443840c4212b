// The cells of bulk operations.

import { expect } from "vitest";
import { type TaskContext, Worker } from "../../src/index.ts";
import {
  type CellTests,
  children,
  claimForeign,
  drain,
  endForeign,
  refuse,
  retry,
  statusOf,
  submit,
} from "./place.ts";

export const BULK: CellTests = {
  async "bulk × snooze"(place) {
    const task = await submit(place);
    await drain(place, ({ snooze }) => snooze(60_000));
    expect(await place.wadi.cancelMany({ queue: place.queue })).toMatchObject({ changed: 1, requested: 0 });
    expect(await statusOf(place, task)).toBe("canceled");
  },

  async "bulk × onFailed"(place) {
    const task = await submit(place, { onFailed: "alert" });
    await place.wadi.cancelMany({ queue: place.queue });
    expect(await children(place, task)).toEqual([]);
    await retry(place, "canceled");
    await drain(place, refuse);
    await retry(place, "failed");
    await drain(place, refuse);
    expect(await children(place, task)).toHaveLength(2);
    await place.wadi.purgeMany({ queue: place.queue });
    expect(await children(place, task)).toHaveLength(2);
  },

  async "bulk × keys"(place) {
    const [kept, taken] = [`${place.queue} kept`, `${place.queue} taken`];
    const one = await submit(place, { key: kept });
    const two = await submit(place, { key: taken });
    await drain(place, refuse);
    const newer = await submit(place, { key: taken, delayMs: 60_000 });
    expect(await retry(place, "failed")).toBe(2);
    expect((await place.wadi.getByKey(kept))?.id).toBe(one.id);
    expect((await place.wadi.getByKey(taken))?.id).toBe(newer.id);
    expect(await submit(place, { key: kept })).toMatchObject({ id: one.id, outcome: "reused" });
    await drain(place);
    expect([await statusOf(place, one), await statusOf(place, two)]).toEqual(["succeeded", "succeeded"]);
    await place.wadi.purgeMany({ queue: place.queue });
    expect(await place.wadi.getByKey(kept)).toBeNull();
  },

  async "bulk × limits"(place) {
    const limits = { key: place.limitKey, concurrency: 1 };
    await submit(place, { limits, priority: 1 });
    const waiting = await submit(place, { limits, delayMs: 1 });
    let most = 0;
    let now = 0;
    await drain(place, async ({ heartbeat }) => {
      most = Math.max(most, ++now);
      place.clock.advance(5);
      await place.wadi.cancelMany({ queue: place.queue, status: "running" });
      expect((await drain(place)).claimed).toBe(0); // the task that was asked to stop has its place
      await heartbeat();
      now--;
    });
    expect(await statusOf(place, waiting)).toBe("canceled");
    await retry(place, "canceled");
    await drain(place, async () => {
      most = Math.max(most, ++now);
      await Promise.resolve();
      now--;
    });
    expect([most, await statusOf(place, waiting)]).toEqual([1, "succeeded"]);
  },

  async "bulk × batch"(place) {
    const one = await submit(place, { correlationId: place.queue });
    const two = await submit(place);
    const batch = async (contexts: readonly TaskContext[]) => {
      await place.wadi.cancelMany({ correlationId: place.queue });
      await Promise.all(contexts.map(({ heartbeat }) => heartbeat()));
    };
    const { wadi, queue } = place;
    await new Worker(wadi, { queues: [queue] }).task("a", batch, { batch: 5 }).drain();
    expect([await statusOf(place, one), await statusOf(place, two)]).toEqual(["canceled", "succeeded"]);
  },

  async "bulk × succeedWith"(place) {
    const task = await submit(place);
    const meta = { sql: `insert into cairnq_meta (key, value) values ('${place.queue}', 'x')` };
    await drain(place, async ({ succeedWith }) => {
      await place.wadi.cancelMany({ queue: place.queue });
      await expect(succeedWith([meta])).rejects.toMatchObject({ code: "TASK_CANCELED" });
    });
    expect(await statusOf(place, task)).toBe("canceled");
    expect(await place.run(`select key from cairnq_meta where key = '${place.queue}'`)).toEqual([]);
  },

  async "bulk × prefetch"(place) {
    await submit(place, { priority: 1 });
    const ahead = await submit(place, { correlationId: place.queue });
    let runs = 0;
    await drain(
      place,
      async () => {
        runs++;
        const result = await place.wadi.cancelMany({ correlationId: place.queue });
        expect(result).toMatchObject({ changed: 1, requested: 1 });
        await expect.poll(() => statusOf(place, ahead)).toBe("canceled");
      },
      { concurrency: 1, prefetch: 5, cancelPollMs: 100 },
    );
    expect(runs).toBe(1);
  },

  async "bulk × another SDK"(place) {
    const task = await submit(place);
    await claimForeign(place, task);
    expect(await place.wadi.cancelMany({ queue: place.queue })).toMatchObject({ changed: 1, requested: 1 });
    await endForeign(place, task, "succeeded");
    expect(await statusOf(place, task)).toBe("canceled");
    expect(await retry(place, "canceled")).toBe(1);
  },
};
