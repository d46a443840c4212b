// The ready-made hints, each over what it is made for.

import { expect, test } from "vitest";
import { openKv } from "../../scripts/simulate/idle/workerd-kv.ts";
import { type Hint, hintByDurableObject, hintInKv, hintInMemory } from "../../src/index.ts";

test("each returns what was set, null for what was not, and passes maxAgeMs on", async () => {
  const { namespace, close } = await openKv();
  const stored = new Map<string, string>();
  const stub = {
    getHint: async (cell: string) => stored.get(cell) ?? null,
    setHint: async (cell: string, text: string) => void stored.set(cell, text),
  };
  // As the storage of a Durable Object: undefined for what was never put.
  const storage = {
    get: async (key: string) => stored.get(`storage ${key}`),
    put: async (key: string, value: string) => void stored.set(`storage ${key}`, value),
  };
  const options = { maxAgeMs: 5000 };
  const hints: Hint[] = [
    hintInKv(namespace, "a", options),
    hintInKv(storage, "a", options),
    hintByDurableObject(stub, options),
    hintInMemory(options),
  ];
  try {
    for (const hint of hints) {
      expect(hint.maxAgeMs).toBe(5000);
      expect(await hint.get("changed")).toBe(null);
      await hint.set("changed", "1");
      await hint.set("changed", "2");
      expect(await hint.get("changed")).toBe("2");
    }
    expect(await hintInKv(namespace, "b").get("changed")).toBe(null);
    expect(await namespace.get("a:changed")).toBe("2");
  } finally {
    await close();
  }
});

test("what cannot keep a hint is refused", () => {
  expect(() => hintInKv({} as never)).toThrow("hintInKv takes a namespace with get and put");
  expect(() => hintInKv(undefined as never)).toThrow("hintInKv takes a namespace with get and put");
  expect(() => hintByDurableObject({} as never)).toThrow("a stub whose class has getHint and setHint");
});
