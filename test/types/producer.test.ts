// Types of waits, watches and options of a Wadi.

import { expectTypeOf, test } from "vitest";
import type { Executor } from "../../src/driver.ts";
import type { SubmittedTask, Task, TaskState } from "../../src/index.ts";
import { defineTask, Wadi } from "../../src/index.ts";

// Checked by the compiler; nothing here runs.
declare const wadi: Wadi;
declare const executor: Executor;

interface Input {
  readonly url: string;
}
interface Output {
  readonly bytes: number;
}
const plain = defineTask<Input, Output>({ name: "plain" });

test("waits for many have the type of the tasks they wait for", () => {
  const _ = async () => {
    const submitted = await wadi.submitMany(plain, [{ payload: { url: "x" } }]);
    expectTypeOf(submitted).toEqualTypeOf<SubmittedTask<Input, Output>[]>();
    expectTypeOf(await wadi.waitMany(submitted)).toEqualTypeOf<Task<Input, Output>[]>();
    expectTypeOf(await wadi.waitMany(["task_x"])).toEqualTypeOf<Task[]>();
    expectTypeOf(await wadi.waitByKey<Input, Output>("k")).toEqualTypeOf<Task<Input, Output>>();
    expectTypeOf(await wadi.waitManyByKey<Input, Output>(["k"])).toEqualTypeOf<Task<Input, Output>[]>();
    expectTypeOf(await wadi.call("untyped", 1)).toEqualTypeOf<unknown>();
    // @ts-expect-error: a list of tasks or ids
    wadi.waitMany("task_x");
    // @ts-expect-error: there is no such option
    wadi.waitMany(submitted, { timeout: 5 });
    // @ts-expect-error: a key is a text
    wadi.waitByKey(5);
    // @ts-expect-error: the result has no such field
    (await wadi.call(plain, { url: "x" })).bits;
    // @ts-expect-error: options of the submit and of the wait, no others
    wadi.call(plain, { url: "x" }, { timeoutMs: 5, prio: 1 });
  };
});

test("a watch gives states", () => {
  const _ = async () => {
    for await (const state of wadi.watch("task_x")) expectTypeOf(state).toEqualTypeOf<TaskState>();
    // @ts-expect-error: it has no result yet
    for await (const state of wadi.watchByKey("k")) state.result;
    // @ts-expect-error: an id or a task
    wadi.watch(5);
  };
});

test("debounce and throttle need their durations", () => {
  const _ = () => {
    wadi.submit(plain, { url: "x" }, { key: "k", debounce: { delayMs: 100, maxDelayMs: 1000 } });
    wadi.submit(plain, { url: "x" }, { key: "k", throttle: { perMs: 1000 } });
    // @ts-expect-error: a debounce has a delay
    wadi.submit(plain, { url: "x" }, { key: "k", debounce: { maxDelayMs: 1000 } });
    // @ts-expect-error: a window in milliseconds
    wadi.submit(plain, { url: "x" }, { key: "k", throttle: { perSecond: 1 } });
  };
});

test("options of a client that do not exist, or are of another type, are refused", () => {
  const _ = () => {
    new Wadi(executor, { maxQueueDepth: { mail: 100 }, maxQueueWaitMs: 50, requestRetry: { tries: 3 } });
    new Wadi(executor, { maxQueueDepth: 100, metadata: ({ name, queue }) => ({ by: `${queue}/${name}` }) });
    // @ts-expect-error: there is no such option
    new Wadi(executor, { maxDepth: 100 });
    // @ts-expect-error: a number, or one for each queue
    new Wadi(executor, { maxQueueDepth: "100" });
    // @ts-expect-error: metadata is JSON
    new Wadi(executor, { metadata: () => ({ at: new Date() }) });
    // @ts-expect-error: an executor, not a connection string
    new Wadi("postgres://localhost/app");
  };
});
