// Values that JSON would change are refused; plain values are accepted.

import { runInNewContext } from "node:vm";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { defineTask, typed, Worker } from "../../../src/index.ts";
import { memoryWadi } from "../../../testing/memory.ts";

class Money {
  readonly cents = 5;
}
class Writes {
  readonly #value: unknown;
  constructor(value: unknown) {
    this.#value = value;
  }
  toJSON(): unknown {
    return this.#value;
  }
}

const REFUSED: Record<string, [value: unknown, found: string]> = {
  "a promise": [Promise.resolve({ total: 5 }), "a Promise"],
  "a request": [new Request("http://localhost/"), "a Request"],
  "a response": [new Response("{}"), "a Response"],
  "a file": [new File(["x"], "a.txt"), "a File"],
  "a blob": [new Blob(["x"]), "a Blob"],
  "a buffer": [new ArrayBuffer(8), "an ArrayBuffer"],
  "a view": [new DataView(new ArrayBuffer(8)), "a DataView"],
  "a pattern": [/x/, "a RegExp"],
  "an error": [new TypeError("no"), "a TypeError"],
  "a weak map": [new WeakMap(), "a WeakMap"],
  headers: [new Headers({ a: "b" }), "a Headers"],
  "an instance of a class": [new Money(), "a Money"],
  "an invalid date": [new Date(Number.NaN), "an invalid Date"],
  "an invalid date of another realm": [runInNewContext("new Date(NaN)"), "an invalid Date"],
  "a map of another realm": [runInNewContext("new Map([[1, 2]])"), "a Map"],
  "an error of another realm": [runInNewContext("new Error('no')"), "an Error"],
  "NaN in an object": [Object(Number.NaN), "NaN"],
  "a bigint in an object": [Object(1n), "a BigInt"],
  "a toJSON() that gives a Map": [new Writes(new Map()), "a Map"],
  "a toJSON() that gives a Date, which is not written again": [new Writes(new Date(0)), "a Date"],
  "a toJSON() that gives nothing": [new Writes(undefined), "undefined"],
};

const TAKEN: Record<string, [value: unknown, stored: unknown]> = {
  "a date": [new Date(0), "1970-01-01T00:00:00.000Z"],
  "a URL": [new URL("http://localhost/a"), "http://localhost/a"],
  "an instance with a toJSON()": [new Writes({ a: [1] }), { a: [1] }],
  "an object without a prototype": [Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
  "an object of another realm": [runInNewContext("({ a: [1, { b: null }] })"), { a: [1, { b: null }] }],
  "primitives in objects": [
    [Object("a"), Object(1), Object(true)],
    ["a", 1, true],
  ],
  "a field that is named toJSON": [{ toJSON: 1 }, { toJSON: 1 }],
};

describe("a value that JSON would change is refused, with its place", () => {
  test.each(Object.entries(REFUSED))("%s, in a payload and in metadata", async (_, [value, found]) => {
    const wadi = memoryWadi();
    await expect(wadi.submit("a", { list: [{ value }] })).rejects.toMatchObject({
      name: "SerializationError",
      message: expect.stringContaining(`the payload of a at list[0].value is ${found}`),
    });
    await expect(wadi.submit("a", value)).rejects.toThrow(`the payload of a is ${found}`);
    await expect(wadi.submit("a", 1, { metadata: { value: value as never } })).rejects.toThrow(
      `metadata at value is ${found}`,
    );
    await expect(wadi.submitMany("a", [{ payload: 1 }, { payload: value }])).rejects.toThrow(found);
    expect(await wadi.list()).toEqual([]);
  });

  test.each(Object.entries(REFUSED))("%s, in a result", async (_, [value, found]) => {
    const wadi = memoryWadi();
    const { id } = await wadi.submit("a", null);
    await new Worker(wadi).task("a", () => ({ total: value })).drain({ budgetMs: 5000 });
    expect(await wadi.get(id)).toMatchObject({
      status: "failed",
      error: { code: "unserializable_result", message: expect.stringContaining(`at total is ${found}`) },
    });
  });
});

test.each(Object.entries(TAKEN))("%s is taken", async (_, [value, stored]) => {
  const wadi = memoryWadi();
  const { id } = await wadi.submit("a", { value });
  expect((await wadi.get(id))?.payload).toEqual({ value: stored });
});

test("metadata that is no object with fields is refused", async () => {
  const wadi = memoryWadi();
  for (const metadata of [[], new Map(), new Date(), Promise.resolve({}), new Money(), "a", null]) {
    await expect(wadi.submit("a", 1, { metadata: metadata as never })).rejects.toThrow(/metadata must be/);
  }
});

test("metadata that is named __proto__ is kept", async () => {
  const wadi = memoryWadi({ metadata: () => JSON.parse('{"__proto__":"of the hook","a":1}') });
  const own = JSON.parse('{"__proto__":{"of":"the submit"}}');
  for (const { id } of [await wadi.submit("a", 1), await wadi.submit("a", 1, { metadata: own, key: "k" })]) {
    const { metadata } = (await wadi.get(id))!;
    expect(Object.keys(metadata).sort()).toEqual(["__proto__", "a"]);
  }
  expect(JSON.stringify((await wadi.getByKey("k"))?.metadata)).toContain('"__proto__":{"of":"the submit"}');
});

describe("a schema validates at submit what the handler will get", () => {
  test("a schema that accepts only values that JSON cannot hold is refused immediately", async () => {
    const wadi = memoryWadi();
    const task = defineTask({ name: "a", payload: v.object({ at: v.date() }) as never });
    await expect(wadi.submit(task as never, { at: new Date() } as never)).rejects.toMatchObject({
      name: "InvalidArgument",
      message: "the payload of a does not match its schema at at",
    });
  });

  test("one that reads the JSON form runs", async () => {
    const wadi = memoryWadi();
    const at = v.pipe(
      v.string(),
      v.transform((text) => new Date(text)),
    );
    const task = defineTask({ name: "a", payload: v.object({ at }) });
    let seen: unknown;
    const worker = new Worker(wadi).task(task, ({ payload }) => {
      seen = payload.at;
    });
    const date = new Date(5);
    await wadi.submit(task as never, { at: date } as never);
    await worker.drain({ budgetMs: 5000 });
    expect(seen).toEqual(date);
  });
});

test("get and waitByKey with a definition refuse a task of another one", async () => {
  const wadi = memoryWadi();
  const [a, b] = [defineTask<number>({ name: "a" }), defineTask<number>({ name: "b", result: typed<1>() })];
  const { id } = await wadi.submit(a, 5, { key: "k" });
  expect(await wadi.get(a, id)).toMatchObject({ id, payload: 5 });
  expect(await wadi.getByKey(a, "k")).toMatchObject({ id });
  await expect(wadi.get(b, id)).rejects.toThrow(
    `task ${id} is one of "a", not of "b"; pass the definition of that name, or none`,
  );
  await wadi.cancel(id);
  expect(await wadi.waitByKey(a, "k", { timeoutMs: 100 })).toMatchObject({ id, status: "canceled" });
  await expect(wadi.waitByKey(b, "k")).rejects.toThrow(`task ${id} is one of "a", not of "b"`);
  await expect(wadi.waitByKey({ name: "a" } as never, "k")).rejects.toThrow("defineTask");
  expect(await wadi.get(b, "task_none")).toBeNull();
  await expect(wadi.get({ name: "a" } as never, id)).rejects.toThrow("defineTask");
  expect(b.result).toBeNull();
  expect(() => defineTask({ name: "a", payload: typed<1>() })).toThrow("typed() is for a result");
});
