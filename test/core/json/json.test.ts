// Values that JSON cannot hold are refused with their place.

import { describe, expect, test } from "vitest";
import { encodeJson, type JsonTarget } from "../../../src/core/json/json.ts";

const sqlite: JsonTarget = {
  name: "sqlite",
  dialect: "sqlite",
  limits: { maxParamBytes: 1000, maxBatchStatements: 10 },
};
const postgres: JsonTarget = { ...sqlite, name: "pg", dialect: "postgres" };

describe("a value that JSON cannot hold is refused, with its place", () => {
  const loop: Record<string, unknown> = {};
  loop.self = { loop };
  test.each([
    ["NaN", { a: [1, Number.NaN] }, "at a[1] is NaN"],
    ["Infinity", { a: { b: Number.POSITIVE_INFINITY } }, "at a.b is Infinity"],
    ["undefined in an array", [undefined], "at [0] is undefined"],
    ["a function in an array", [() => 1], "at [0] is a function"],
    ["a function as a property", { f: () => 1 }, "at f is a function"],
    ["a symbol", Symbol("s"), "is a symbol"],
    ["a bigint", { n: 1n }, "at n is a bigint"],
    ["a Map", { m: new Map([[1, 2]]) }, "at m is a Map"],
    ["a Set", [new Set([1])], "at [0] is a Set"],
    ["bytes", new Uint8Array(2), "is a Uint8Array"],
    ["a cycle", loop, "is a reference to its own parent"],
    ["nothing at all", undefined, "is undefined"],
  ])("%s", (_what, value, message) => {
    expect(() => encodeJson(value, "the payload", sqlite)).toThrow(
      expect.objectContaining({ name: "SerializationError", message: expect.stringContaining(message) }),
    );
  });
});

test("an undefined property is omitted, and the same object twice is no cycle", () => {
  const shared = { x: 1 };
  expect(encodeJson({ a: undefined, b: shared, c: shared }, "p", sqlite)).toBe('{"b":{"x":1},"c":{"x":1}}');
});

test("the result of toJSON is checked too", () => {
  expect(encodeJson({ at: new Date(0) }, "p", sqlite)).toBe('{"at":"1970-01-01T00:00:00.000Z"}');
  expect(() => encodeJson({ toJSON: () => ({ n: 1n }) }, "p", sqlite)).toThrow(
    expect.objectContaining({ name: "SerializationError" }),
  );
});

describe("text that jsonb cannot hold is refused on Postgres only", () => {
  test.each([
    ["NUL", "a\0b"],
    ["half a surrogate pair", "a\ud800b"],
    ["NUL in a property name", { "k\0": 1 }],
    ["NUL behind an escaped backslash", "\\\0"],
  ])("%s", (_what, value) => {
    expect(() => encodeJson(value, "the payload", postgres)).toThrow(
      expect.objectContaining({
        name: "SerializationError",
        message: expect.stringContaining("Postgres cannot store"),
      }),
    );
    expect(encodeJson(value, "the payload", sqlite)).toBe(JSON.stringify(value));
  });

  test("text that only looks like an escaped NUL is stored", () => {
    expect(encodeJson("\\u0000", "p", postgres)).toBe('"\\\\u0000"');
    expect(encodeJson("😀", "p", postgres)).toBe('"😀"');
  });
});

test("a value larger than the database takes is refused by its size in bytes", () => {
  expect(encodeJson("x".repeat(998), "p", sqlite)).toHaveLength(1000);
  for (const value of ["x".repeat(999), "é".repeat(500)]) {
    expect(() => encodeJson(value, "the payload of resize", sqlite)).toThrow(
      expect.objectContaining({
        name: "InvalidArgument",
        message: expect.stringMatching(
          /^the payload of resize is 100\d bytes of JSON, sqlite takes at most 1000/,
        ),
      }),
    );
  }
});
