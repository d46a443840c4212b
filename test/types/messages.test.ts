// A wrong argument is a compile error at the mistake, not at the whole call.

import type Database from "better-sqlite3";
import * as v from "valibot";
import { expectTypeOf, test } from "vitest";
import {
  defineTask,
  type TaskContext,
  type TaskDefinition,
  TaskError,
  typed,
  type Wadi,
  type Worker,
} from "../../src/index.ts";

// Checked by the compiler; nothing here runs. Each error has to be on the line of the field or argument that is wrong.
declare const wadi: Wadi;
declare const worker: Worker;
declare const context: TaskContext;
declare const db: Database.Database;

const plain = defineTask<{ url: string; width?: number }, { bytes: number }>({ name: "plain" });

test("an error about a payload is reported at its field", () => {
  const _ = async () => {
    const inTransaction = wadi.with(db);
    for (const client of [wadi, inTransaction, wadi.statements, context]) {
      client.submit(plain, {
        // @ts-expect-error: a text
        url: 5,
      });
      client.submit(plain, {
        url: "x",
        // @ts-expect-error: there is no such field
        widht: 5,
      });
    }
    wadi.call(plain, {
      // @ts-expect-error: a text
      url: 5,
    });
    for (const client of [wadi, inTransaction, wadi.statements]) {
      client.submitMany(plain, [
        {
          payload: {
            // @ts-expect-error: a text
            url: 5,
          },
        },
      ]);
    }
  };
});

test("an error about an option is reported at the option, for a definition and for a name", () => {
  const _ = () => {
    for (const task of [plain, "plain"] as const) {
      wadi.submit(
        task,
        { url: "x" },
        {
          // @ts-expect-error: there is no such option
          prio: 1,
        },
      );
      wadi.call(
        task,
        { url: "x" },
        {
          // @ts-expect-error: a number
          timeoutMs: "5s",
        },
      );
      wadi.submitMany(task, [
        {
          payload: { url: "x" },
          // @ts-expect-error: there is no such policy
          conflict: "merge",
        },
      ]);
    }
    worker.task(plain, () => ({ bytes: 1 }), {
      // @ts-expect-error: a number
      concurrency: "2",
    });
    worker.task("plain", () => 1, {
      // @ts-expect-error: there is no such option
      maxRun: 5,
    });
  };
});

test("an error about a handler is reported at the mistake in it", () => {
  const _ = () => {
    worker.task(plain, ({ payload }) => ({
      // @ts-expect-error: the payload has no such field
      bytes: payload.uri.length,
    }));
    worker.task(plain, () => ({
      // @ts-expect-error: a number
      bytes: "5",
    }));
    worker.task(
      plain,
      (contexts) =>
        // @ts-expect-error: the result has no such field
        new Map(contexts.map(({ id }) => [id, { bits: 8 }])),
      { batch: 2 },
    );
  };
});

test("an error about an option of a definition is reported at the option", () => {
  const _ = () => {
    defineTask<{ tenant: string }>({
      name: "a",
      // @ts-expect-error: a number
      maxAttempts: "5",
    });
    defineTask({
      name: "a",
      // @ts-expect-error: there is no such option
      maxAttemps: 5,
    });
    defineTask({
      name: "a",
      payload: v.object({ tenant: v.string() }),
      // @ts-expect-error: the payload has no such field
      limits: { key: ({ tennant }) => tennant, concurrency: 1 },
    });
    defineTask({
      name: "a",
      // @ts-expect-error: no schema
      payload: { tenant: "string" },
    });
  };
});

test("a definition is not widened by what is submitted", () => {
  const _ = () => {
    const either = defineTask<"a" | "b">({ name: "either" });
    // @ts-expect-error: neither of the two
    wadi.submit(either, "c");
    // @ts-expect-error: neither a name nor a definition
    wadi.submit(5, "c");
  };
});

test("a task is read with the types of its definition", () => {
  const _ = async () => {
    const task = await wadi.get(plain, "task_x");
    expectTypeOf(task!.payload).toEqualTypeOf<{ url: string; width?: number }>();
    expectTypeOf(task!.result).toEqualTypeOf<{ bytes: number } | null>();
    expectTypeOf(await wadi.getByKey(plain, "k")).toEqualTypeOf<typeof task>();
    expectTypeOf(await wadi.waitByKey(plain, "k", { timeoutMs: 5 })).toEqualTypeOf<
      NonNullable<typeof task>
    >();
    expectTypeOf((await wadi.waitByKey("k")).result).toEqualTypeOf<unknown>();
    expectTypeOf((await wadi.get("task_x"))!.result).toEqualTypeOf<unknown>();
    expectTypeOf((await wadi.get<1, 2>("task_x"))!.result).toEqualTypeOf<2 | null>();
    // @ts-expect-error: an id is a text
    wadi.get(plain, 5);
  };
});

test("a result has a type in addition to a payload schema", () => {
  const schema = v.object({ n: v.pipe(v.string(), v.transform(Number)) });
  const squared = defineTask({ name: "square", payload: schema, result: typed<{ square: number }>() });
  const _ = async () => {
    worker.task(squared, ({ payload }) => ({ square: payload.n ** 2 }));
    expectTypeOf(await wadi.call(squared, { n: "5" })).toEqualTypeOf<{ square: number }>();
    worker.task(squared, ({ payload }) => ({
      // @ts-expect-error: a number
      square: `${payload.n}`,
    }));
  };
});

test("a function that is generic in the types of a definition compiles", () => {
  const _ = async () => {
    const later = <Input, Payload, Result>(task: TaskDefinition<Input, Payload, Result>, payload: Input) =>
      wadi.submit(task, payload, { delayMs: 1000 });
    expectTypeOf((await later(plain, { url: "x" })).payload.url).toEqualTypeOf<string>();
  };
});

test("an unknown option of a TaskError is an error at the option", () => {
  const _ = () =>
    new TaskError("x", {
      // @ts-expect-error: it is retryable
      retry: false,
    });
});
