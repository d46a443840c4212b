// Queues and names take turns fairly.

import { describe, expect, test } from "vitest";
import { Wadi, Worker } from "../../../src/index.ts";
import { pickTargets } from "../../../testing/targets.ts";

describe.each(pickTargets(["better-sqlite3-memory", "pg"]))("on $name", (target) => {
  /** The order in which tasks start, by their payloads. */
  async function orderOf(
    concurrency: number,
    names: readonly string[],
    submit: (wadi: Wadi) => Promise<void>,
  ): Promise<string[]> {
    const opened = await target.open();
    try {
      const wadi = new Wadi(opened.executor);
      await submit(wadi);
      const worker = new Worker(wadi, { concurrency });
      const order: string[] = [];
      for (const name of names)
        worker.task(name, async ({ payload }) => {
          order.push(String(payload));
          await new Promise((resolve) => setImmediate(resolve));
        });
      await worker.drain({ budgetMs: 60_000 });
      return order;
    } finally {
      await opened.close();
    }
  }

  const tenant = (payload: string, count: number) => {
    const limits = { key: payload, concurrency: 20 };
    return Array.from({ length: count }, () => ({ payload, limits }));
  };
  const lastOf = (order: readonly string[], payload: string) => order.lastIndexOf(payload) + 1;

  test.each([1, 2, 10])(
    "tenants of one name take turns with %i slots",
    { timeout: 60_000 },
    async (slots) => {
      const order = await orderOf(slots, ["a"], async (wadi) => {
        await wadi.submitMany("a", tenant("big", 120));
        await wadi.submitMany("a", tenant("small", 8));
      });
      expect(order).toHaveLength(128);
      // In the worst case the first claim has seen the limits of none.
      expect(lastOf(order, "small")).toBeLessThanOrEqual(2 * 8 + 2 * slots);
    },
  );

  test("three tenants take turns with one slot", { timeout: 60_000 }, async () => {
    const order = await orderOf(1, ["a"], async (wadi) => {
      for (const name of ["x", "y", "z"]) await wadi.submitMany("a", tenant(name, 10));
    });
    for (let at = 0; at < 30; at += 3) expect(new Set(order.slice(at, at + 3)).size).toBe(3);
  });

  test("names take turns with one slot", { timeout: 60_000 }, async () => {
    const order = await orderOf(1, ["A", "B", "C"], async (wadi) => {
      for (const name of ["A", "B", "C"])
        await wadi.submitMany(
          name,
          Array.from({ length: 20 }, () => ({ payload: name })),
        );
    });
    for (let at = 0; at < 60; at += 3) expect(new Set(order.slice(at, at + 3)).size).toBe(3);
  });
});
