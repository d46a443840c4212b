// Types of batch handlers.

import { expectTypeOf, test } from "vitest";
import { type TaskContext, type Wadi, Worker } from "../../src/index.ts";
import { checked, plain } from "./definitions.ts";

// Checked by the compiler; nothing here runs.
declare const wadi: Wadi;
declare const worker: Worker;

test("a batch handler gets a list of contexts and gives results by id", () => {
  const _ = () => {
    worker.task(
      plain,
      (contexts) => {
        expectTypeOf(contexts).toEqualTypeOf<readonly TaskContext<{ url: string }, { bytes: number }>[]>();
        return new Map(contexts.map(({ id, payload }) => [id, { bytes: payload.url.length }]));
      },
      { batch: 10 },
    );
    worker.task(plain, async ([first]) => ({ [first!.id]: { bytes: 1 } }), { batch: 10 });
    worker.task(plain, () => {}, { batch: 10 });
    worker.task(plain, async () => {}, { batch: 10 });
    worker.task(
      checked,
      (contexts) => {
        expectTypeOf(contexts[0]!.payload).toEqualTypeOf<{ n: number }>();
        for (const context of contexts) context.succeed({ ok: true });
      },
      { batch: 10, concurrency: 2, resource: "gpu", queues: ["a", "b"] },
    );
    worker.task("untyped", (contexts) => new Map(contexts.map(({ id, payload }) => [id, payload])), {
      batch: 2,
    });
  };
});

test("a batch handler that does not fit is refused", () => {
  const _ = () => {
    // @ts-expect-error: the results are of another type
    worker.task(plain, (contexts) => new Map(contexts.map(({ id }) => [id, "text"])), { batch: 10 });
    // @ts-expect-error: results go by id, not by place
    worker.task(plain, (contexts) => contexts.map(() => ({ bytes: 1 })), { batch: 10 });
    // @ts-expect-error: there is a list, not one context
    worker.task(plain, (context) => ({ x: { bytes: context.payload.url.length } }), { batch: 10 });
    // @ts-expect-error: without a batch there is one context, not a list
    worker.task(plain, (contexts) => new Map(contexts.map(({ id }) => [id, { bytes: 1 }])));
    // @ts-expect-error: there is no such option
    worker.task(plain, () => {}, { batch: 10, size: 3 });
  };
});

test("options of a worker are typed", () => {
  const _ = () => {
    new Worker(wadi, { prefetch: { tasks: 10, bytes: 1000 }, resources: { gpu: 2 }, queues: ["a"] });
    // @ts-expect-error: the bytes alone say nothing
    new Worker(wadi, { prefetch: { bytes: 1000 } });
    // @ts-expect-error: there is no such event
    new Worker(wadi, { onEvent: (event) => event.type === "finished" });
    new Worker(wadi, {
      onEvent: (event) => {
        if (event.type === "failed" || event.type === "retried") expectTypeOf(event.error.code).toBeString();
        if (event.type === "drained") expectTypeOf(event.summary.claimed).toBeNumber();
        else expectTypeOf(event.id).toBeString();
        // @ts-expect-error: only some events have an error
        event.error;
      },
    });
  };
});
