// The cells of expiry and pause.

import { expect } from "vitest";
import {
  type CellTests,
  children,
  claimForeign,
  drain,
  endForeign,
  pause,
  refuse,
  resume,
  retry,
  statusOf,
  submit,
  worker,
} from "./place.ts";

export const EXPIRY_AND_PAUSE: CellTests = {
  async "expiry × pause"(place) {
    await pause(place, place.queue);
    const task = await submit(place, { expiresInMs: 1000 });
    place.clock.advance(1000);
    expect(await statusOf(place, task)).toBe("canceled");
    await resume(place, place.queue);
    expect((await drain(place)).claimed).toBe(0);
  },

  async "expiry × bulk"(place) {
    const task = await submit(place, { expiresInMs: 1000 });
    place.clock.advance(1000);
    expect(await place.wadi.cancelMany({ queue: place.queue })).toMatchObject({ matched: 0, changed: 0 });
    await submit(place, { delayMs: 60_000 });
    await drain(place); // ends the expired task
    expect(await retry(place, "canceled")).toBe(1);
    place.clock.advance(5000);
    expect(await statusOf(place, task)).toBe("queued");
  },

  async "expiry × snooze"(place) {
    const task = await submit(place, { expiresInMs: 1000 });
    await drain(place, ({ snooze }) => snooze(60_000));
    place.clock.advance(59_000);
    expect(await statusOf(place, task)).toBe("queued");
    place.clock.advance(1000);
    expect(await drain(place)).toMatchObject({ succeeded: 1 });
  },

  async "expiry × onFailed"(place) {
    const expired = await submit(place, { expiresInMs: 1000, onFailed: "alert" });
    place.clock.advance(1000);
    await drain(place);
    expect(await children(place, expired)).toEqual([]);
    expect(await statusOf(place, expired)).toBe("canceled");
    const limits = null;
    const alert = {
      name: "alert",
      queue: place.queue,
      maxAttempts: 1,
      maxCrashes: 1,
      priority: 0,
      expiresInMs: 1000,
    };
    const failed = await submit(place, { onFailed: { ...alert, limits } });
    await drain(place, refuse);
    place.clock.advance(1000);
    expect((await children(place, failed)).map(({ status }) => status)).toEqual(["canceled"]);
  },

  async "expiry × keys"(place) {
    const key = `${place.queue} key`;
    const first = await submit(place, { key, expiresInMs: 1000 });
    place.clock.advance(1000);
    const second = await submit(place, { key });
    expect(second).toMatchObject({ outcome: "created" });
    expect(second.id).not.toBe(first.id);
  },

  async "expiry × limits"(place) {
    const limits = { key: place.limitKey, concurrency: 1 };
    await submit(place, { limits, priority: 1 });
    const waits = await submit(place, { limits, expiresInMs: 1000 });
    await drain(place, async () => {
      place.clock.advance(1000);
      expect(await statusOf(place, waits)).toBe("canceled");
    });
    expect(await statusOf(place, waits)).toBe("canceled");
  },

  async "expiry × prefetch"(place) {
    const [first, ahead, late] = await Promise.all([
      submit(place, { priority: 2, expiresInMs: 1000 }),
      submit(place, { priority: 1, expiresInMs: 1000 }),
      submit(place, { expiresInMs: 1000 }),
    ]);
    const stop = new AbortController();
    let runs = 0;
    const handler = async () => {
      place.clock.advance(600);
      if (++runs === 2) stop.abort(); // the third is released
    };
    const options = { concurrency: 1, prefetch: 5 };
    await worker(place, handler, options).drain({ signal: stop.signal });
    expect([await statusOf(place, first), await statusOf(place, ahead)]).toEqual(["succeeded", "succeeded"]);
    expect(await statusOf(place, late)).toBe("canceled");
  },

  async "expiry × another SDK"(place) {
    const task = await submit(place, { expiresInMs: 1000 });
    place.clock.advance(2000);
    expect(await statusOf(place, task)).toBe("canceled");
    await claimForeign(place, task);
    expect(await statusOf(place, task)).toBe("running");
    await endForeign(place, task, "succeeded");
    expect(await statusOf(place, task)).toBe("succeeded");
  },

  async "pause × bulk"(place) {
    const task = await submit(place);
    await pause(place, place.queue);
    expect(await place.wadi.cancelMany({ queue: place.queue })).toMatchObject({ changed: 1, requested: 0 });
    expect(await retry(place, "canceled")).toBe(1);
    expect((await drain(place)).claimed).toBe(0);
    await resume(place, place.queue);
    await drain(place);
    expect(await statusOf(place, task)).toBe("succeeded");
    await pause(place, place.queue);
    expect(await place.wadi.purgeMany({ queue: place.queue })).toMatchObject({ changed: 1 });
  },

  async "pause × snooze"(place) {
    const task = await submit(place);
    await drain(place, async ({ snooze }) => {
      await pause(place, place.queue);
      snooze(1000);
    });
    place.clock.advance(2000);
    expect((await drain(place)).claimed).toBe(0);
    await resume(place, place.queue);
    await drain(place);
    expect(await statusOf(place, task)).toBe("succeeded");
  },

  async "pause × onFailed"(place) {
    const paused = `${place.queue} alerts`;
    const alert = { name: "a", queue: paused, maxAttempts: 1, maxCrashes: 1, priority: 0, expiresInMs: null };
    await pause(place, paused);
    const task = await submit(place, { onFailed: { ...alert, limits: null } });
    await drain(place, refuse);
    expect((await children(place, task)).map(({ status }) => status)).toEqual(["queued"]);
    const there = { ...place, queue: paused };
    expect((await drain(there)).claimed).toBe(0);
    await resume(place, paused);
    expect((await drain(there)).succeeded).toBe(1);
  },

  async "pause × limits"(place) {
    const limits = { key: place.limitKey, concurrency: 1 };
    const paused = `${place.queue} paused`;
    await submit({ ...place, queue: paused }, { limits, priority: 5 });
    await pause(place, paused);
    await submit(place, { limits });
    const summary = await drain(place, () => 1, { queues: [paused, place.queue] });
    expect(summary).toMatchObject({ succeeded: 1, more: false });
  },

  async "pause × prefetch"(place) {
    await Promise.all([submit(place), submit(place), submit(place)]);
    let runs = 0;
    const handler = async () => void (++runs === 1 && (await pause(place, place.queue)));
    await drain(place, handler, { concurrency: 1, prefetch: 5 });
    expect(runs).toBe(3);
  },

  async "pause × another SDK"(place) {
    const task = await submit(place);
    await pause(place, place.queue);
    await claimForeign(place, task);
    await endForeign(place, task, "succeeded");
    expect(await statusOf(place, task)).toBe("succeeded");
  },
};
