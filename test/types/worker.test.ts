// Types of workers, contexts and events.

import { expectTypeOf, test } from "vitest";
import {
  type DrainSummary,
  defineTask,
  type ErrorEnvelope,
  type TaskContext,
  type Wadi,
  Worker,
  type WorkerEvent,
} from "../../src/index.ts";
import { openTelemetry } from "../../src/opentelemetry/index.ts";

// Checked by the compiler; nothing here runs.
declare const wadi: Wadi;
declare const worker: Worker;

interface Input {
  readonly url: string;
}
interface Output {
  readonly bytes: number;
}
const plain = defineTask<Input, Output>({ name: "plain" });

test("a batch handler gets a list of contexts and gives results by id", () => {
  const _ = () => {
    worker.task(
      plain,
      (contexts) => new Map(contexts.map(({ id, payload }) => [id, { bytes: payload.url.length }])),
      {
        batch: 256,
      },
    );
    worker.task(
      plain,
      (contexts) => {
        expectTypeOf(contexts).toEqualTypeOf<readonly TaskContext<Input, Output>[]>();
        for (const context of contexts) context.succeed({ bytes: 1 });
      },
      { batch: 2 },
    );
    // @ts-expect-error: one result is not the results of a batch
    worker.task(plain, (contexts) => ({ bytes: contexts.length }), { batch: 2 });
    // @ts-expect-error: the payload has no such field
    worker.task(plain, ([first]) => ({ [first!.id]: { bytes: first!.payload.uri } }), { batch: 2 });
    // @ts-expect-error: without a batch there is one context
    worker.task(plain, (contexts) => ({ bytes: contexts.length }));
    // @ts-expect-error: a number of tasks
    worker.task(plain, () => new Map<string, Output>(), { batch: "2" });
  };
});

test("succeedWith takes a result of the task's type", () => {
  const _ = () => {
    worker.task(plain, (ctx) => ctx.succeedWith([{ sql: "select 1", params: [1, null] }], { bytes: 1 }));
    worker.task(plain, (ctx) => ctx.succeedWith([{ toSQL: () => ({ sql: "", params: [] }) }], { bytes: 1 }));
    // @ts-expect-error: the result is of another type
    worker.task(plain, (ctx) => ctx.succeedWith([], { bits: 8 }));
    // @ts-expect-error: the result was forgotten
    worker.task(plain, (ctx) => ctx.succeedWith([]));
    // @ts-expect-error: statements are a list
    worker.task(plain, (ctx) => ctx.succeedWith("select 1", { bytes: 1 }));
    worker.task("untyped", (ctx) => ctx.succeedWith([]));
  };
});

test("options of a worker that do not exist, or are of another type, are refused", () => {
  const _ = () => {
    new Worker(wadi, { concurrency: 4, prefetch: 100, resources: { gpu: 2 }, queues: ["a", "b"] });
    new Worker(wadi, { prefetch: { tasks: 100, bytes: 1_000_000 }, maxInFlightBytes: 1_000_000 });
    // @ts-expect-error: there is no such option
    new Worker(wadi, { prefetched: 100 });
    // @ts-expect-error: it is tasks
    new Worker(wadi, { prefetch: { count: 100 } });
    // @ts-expect-error: a number of calls
    new Worker(wadi, { resources: { gpu: "2" } });
    // @ts-expect-error: rules are a list
    new Worker(wadi, { retention: { olderThanMs: 5 } });
    // @ts-expect-error: there is no such option
    worker.run({ grace: 5 });
    // @ts-expect-error: there is no such option
    worker.task(plain, () => ({ bytes: 1 }), { resources: "gpu" });
  };
});

test("background returns the result of its function", () => {
  const _ = async () => {
    expectTypeOf(await worker.run()).toEqualTypeOf<DrainSummary>();
    expectTypeOf(await worker.background(() => 5)).toEqualTypeOf<number>();
    expectTypeOf(await worker.stop()).toEqualTypeOf<void>();
  };
});

test("the type of an event narrows it", () => {
  const _ = (event: WorkerEvent) => {
    if (event.type === "failed") expectTypeOf(event.error).toEqualTypeOf<ErrorEnvelope>();
    if (event.type === "drained") expectTypeOf(event.summary).toEqualTypeOf<DrainSummary>();
    // @ts-expect-error: a success has no error
    if (event.type === "succeeded") event.error;
    // @ts-expect-error: there is no such event
    if (event.type === "started over") throw event;
    // @ts-expect-error: not every event is about a task
    event.id;
  };
});

test("telemetry fits what it is spread into", () => {
  const _ = () => {
    const telemetry = openTelemetry({ relation: "parent", baggage: true });
    const { around, onEvent } = telemetry.worker;
    new Worker(wadi, { around, onEvent });
    // @ts-expect-error: there is no such relation
    openTelemetry({ relation: "child" });
    // @ts-expect-error: there is no such option
    openTelemetry({ tracer: null });
  };
});

test("fail accepts each form of a reason, and the status of settled narrows it", () => {
  const _ = async (context: TaskContext<Input, Output>, error: ErrorEnvelope, thrown: unknown) => {
    context.fail("no", { retryable: false, code: "none", details: { n: 1 }, delayMs: 5 });
    context.fail(error);
    context.fail(thrown);
    // @ts-expect-error no such option
    context.fail("no", { retry: false });
    // @ts-expect-error no boolean
    context.fail("no", { retryable: "no" });
    const settled = await context.settled;
    if (settled.status === "lostLease")
      expectTypeOf(settled).toEqualTypeOf<{ id: string; status: "lostLease" }>;
    else expectTypeOf(settled.result).toEqualTypeOf<Output | null>();
    new Worker(wadi, { logger: console });
    new Worker(wadi, { logger: null });
    // @ts-expect-error no warn
    new Worker(wadi, { logger: { error: () => {} } });
  };
});
