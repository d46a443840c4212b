// Types of snooze, onFailed and bulk operations.

import { expectTypeOf, test } from "vitest";
import type { BulkResult, OnFailedPayload, TaskContext, Wadi, Worker } from "../../src/index.ts";
import { defineTask } from "../../src/index.ts";

// Checked by the compiler; nothing here runs.
declare const wadi: Wadi;
declare const worker: Worker;

const alert = defineTask<OnFailedPayload>({ name: "alert" });

test("a handler returns its snooze, whatever its result is", () => {
  const _ = () => {
    const resize = defineTask<{ url: string }, { bytes: number }>({ name: "resize" });
    worker.task(resize, ({ snooze }) => (Math.random() > 1 ? snooze(60_000) : { bytes: 1 }));
    const context = {} as TaskContext;
    // @ts-expect-error: milliseconds are a number
    context.snooze("1 min");
  };
});

test("onFailed is a name or a definition, and null only in a submit", () => {
  const _ = () => {
    defineTask({ name: "a", onFailed: alert });
    defineTask({ name: "a", onFailed: "alert" });
    wadi.submit("a", null, { onFailed: null });
    // @ts-expect-error: no task
    defineTask({ name: "a", onFailed: { name: "alert" } });
    // @ts-expect-error: no task
    wadi.submit("a", null, { onFailed: 5 });
    // @ts-expect-error: it does not take an OnFailedPayload
    defineTask({ name: "a", onFailed: defineTask<{ order: number }>({ name: "charge" }) });
    defineTask({ name: "a", onFailed: defineTask<Pick<OnFailedPayload, "task">>({ name: "some" }) });
    defineTask({ name: "a", onFailed: defineTask({ name: "untyped" }) });
    worker.task(alert, ({ payload }) => {
      expectTypeOf(payload.task.key).toEqualTypeOf<string | null>();
    });
  };
});

test("a bulk operation takes the statuses that it can change", () => {
  const _ = async () => {
    expectTypeOf(await wadi.cancelMany({ status: "running" })).toEqualTypeOf<BulkResult>();
    await wadi.retryMany({ status: "canceled", queue: "q" }, { resetAttempt: true, limit: 5 });
    await wadi.purgeMany({ status: "succeeded" }, { countOnly: true });
    // @ts-expect-error: it has ended
    await wadi.cancelMany({ status: "failed" });
    // @ts-expect-error: it has not failed
    await wadi.retryMany({ status: "succeeded" });
    // @ts-expect-error: an option of retryMany
    await wadi.cancelMany({ queue: "q" }, { resetAttempt: true });
  };
});
