// Types of values after JSON.

import * as v from "valibot";
import { expectTypeOf, test } from "vitest";
import { defineTask, type Json, type JsonForm, type Task, type Wadi, type Worker } from "../../src/index.ts";

// Checked by the compiler; nothing here runs.
declare const wadi: Wadi;
declare const worker: Worker;

interface Payload {
  readonly at: Date;
  readonly link: URL;
  readonly tags?: readonly string[];
  readonly pair: [number, Date | null];
  readonly nested: { readonly at: Date }[];
  readonly free: unknown;
}
interface Written {
  readonly at: string;
  readonly link: string;
  readonly tags?: readonly string[];
  readonly pair: [number, string | null];
  readonly nested: { readonly at: string }[];
  readonly free: unknown;
}
const dated = defineTask<Payload, { readonly doneAt: Date }>({ name: "dated" });

test("payloads and results that are read have their JSON form", () => {
  expectTypeOf<JsonForm<Payload>>().toEqualTypeOf<Written>();
  expectTypeOf<JsonForm<Json>>().toEqualTypeOf<Json>();
  expectTypeOf<JsonForm<unknown>>().toEqualTypeOf<unknown>();
  const _ = async (payload: Payload) => {
    worker.task(dated, (context) => {
      expectTypeOf(context.payload).toEqualTypeOf<Written>();
      return { doneAt: new Date() };
    });
    const submitted = await wadi.submit(dated, payload);
    expectTypeOf(submitted.payload).toEqualTypeOf<Written>();
    expectTypeOf(await wadi.wait(submitted)).toExtend<Task<Written, { readonly doneAt: string }>>();
    expectTypeOf(await wadi.call(dated, payload)).toEqualTypeOf<{ readonly doneAt: string }>();
    expectTypeOf(await wadi.call(defineTask<1, void>({ name: "void" }), 1)).toEqualTypeOf<null>();
  };
});

test("a schema's handler gets what the schema makes of the JSON", () => {
  const at = v.pipe(
    v.string(),
    v.transform((text) => new Date(text)),
  );
  const task = defineTask({ name: "a", payload: v.object({ at }), result: v.object({ at: v.date() }) });
  const _ = async () => {
    worker.task(task, ({ payload }) => {
      expectTypeOf(payload.at).toEqualTypeOf<Date>();
      return payload;
    });
    expectTypeOf(await wadi.call(task, { at: "2026-01-01" })).toEqualTypeOf<{ at: string }>();
  };
});

test("types that JSON cannot hold do not compile", () => {
  class Money {
    readonly cents = 5;
    add(other: Money): Money {
      return other;
    }
  }
  const _ = () => {
    // @ts-expect-error: a Map
    defineTask<{ readonly totals: Map<string, number> }>({ name: "a" });
    // @ts-expect-error: a Set
    defineTask<Set<string>>({ name: "a" });
    // @ts-expect-error: a bigint
    defineTask<{ readonly list: readonly { readonly n: bigint }[] }>({ name: "a" });
    // @ts-expect-error: a function
    defineTask<{ readonly done: () => void }>({ name: "a" });
    // @ts-expect-error: a promise
    defineTask<{ readonly total: Promise<number> }>({ name: "a" });
    // @ts-expect-error: a response
    defineTask<Response>({ name: "a" });
    // @ts-expect-error: bytes
    defineTask<{ readonly bytes: Uint8Array }>({ name: "a" });
    // @ts-expect-error: an instance of a class
    defineTask<Money>({ name: "a" });
    // @ts-expect-error: a symbol
    defineTask<1, { readonly tag: symbol }>({ name: "a" });
    // @ts-expect-error: a result is written too
    defineTask<1, Map<string, number>>({ name: "a" });
    // @ts-expect-error: the schema refuses the JSON of a Date
    defineTask({ name: "a", payload: v.object({ at: v.date() }) });
    defineTask<undefined, void>({ name: "a" });
    defineTask<Record<string, unknown>, Json>({ name: "a" });
    // biome-ignore lint/suspicious/noExplicitAny: it says nothing, and so nothing is refused
    defineTask<any, any>({ name: "a" });
  };
});
