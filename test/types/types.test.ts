// Types of payloads, results and handlers.

import { expectTypeOf, test } from "vitest";
import type { Task, Wadi, Worker } from "../../src/index.ts";
import { checked, plain } from "./definitions.ts";

// Checked by the compiler; nothing here runs.
declare const wadi: Wadi;
declare const worker: Worker;

test("payloads are typed where they are submitted", () => {
  const _ = () => {
    wadi.submit(plain, { url: "x" });
    // @ts-expect-error: a field of the payload is missing
    wadi.submit(plain, {});
    // @ts-expect-error: the schema's input is a string
    wadi.submit(checked, { n: 1 });
    // @ts-expect-error: there is no such option
    wadi.submit(plain, { url: "x" }, { prio: 1 });
    // @ts-expect-error: there is no such policy
    wadi.submit(plain, { url: "x" }, { key: "k", conflict: "merge" });
    // @ts-expect-error: entries are typed too
    wadi.submitMany(plain, [{ payload: { url: 1 } }]);
    wadi.submit("untyped", { anything: [1, null] });
  };
});

test("results are typed where they are read", () => {
  const _ = async () => {
    expectTypeOf(await wadi.call(plain, { url: "x" })).toEqualTypeOf<{ bytes: number }>();
    expectTypeOf(await wadi.call(checked, { n: "1" })).toEqualTypeOf<{ ok: boolean }>();
    const submitted = await wadi.submit(plain, { url: "x" });
    expectTypeOf(submitted.outcome).toEqualTypeOf<"created" | "reused" | "debounced" | "rejected">();
    expectTypeOf(await wadi.wait(submitted)).toEqualTypeOf<Task<{ url: string }, { bytes: number }>>();
    expectTypeOf(await wadi.wait("task_x")).toEqualTypeOf<Task>();
  };
});

test("handlers are typed by their definition", () => {
  const _ = () => {
    worker.task(plain, ({ payload }) => ({ bytes: payload.url.length }));
    // @ts-expect-error: the result is of another type
    worker.task(plain, () => "text");
    // @ts-expect-error: the payload has no such field
    worker.task(plain, ({ payload }) => ({ bytes: payload.uri.length }));
    worker.task(checked, (context) => {
      expectTypeOf(context.payload).toEqualTypeOf<{ n: number }>();
      // @ts-expect-error: the result is of another type
      context.succeed(1);
      return context.succeed({ ok: true });
    });
    // @ts-expect-error: the result was forgotten
    worker.task(checked, () => {});
    // @ts-expect-error: there is no such option
    worker.task("a", () => 1, { maxRun: 5 });
    // @ts-expect-error: there is no such option
    worker.drain({ budget: 5 });
  };
});
