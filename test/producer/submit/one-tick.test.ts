// Submits of one key in one tick keep their order.

import { expect, test } from "vitest";
import { DriverError, Wadi, Worker } from "../../../src/index.ts";
import { interceptOperations } from "../../../testing/intercept.ts";
import { memoryWadi } from "../../../testing/memory.ts";
import { pickTargets } from "../../../testing/targets.ts";

const targets = pickTargets(["better-sqlite3-file", "pg"]);

test.each(targets)(
  "submits of one key in one tick meet each other in their order, on $name",
  async (target) => {
    const { executor, close } = await target.open();
    try {
      const wadi = new Wadi(executor);
      for (let round = 0; round < 10; round++) {
        const key = `k${round}`;
        const submit = (payload: number) => wadi.submit("a", payload, { key, conflict: "replace" });
        await Promise.all([1, 2, 3, 4].map(submit));
        expect((await wadi.getByKey(key))?.payload).toBe(4);
      }
      expect((await wadi.stats()).default).toMatchObject({ queued: 10, canceled: 30 });
    } finally {
      await close();
    }
  },
);

test("they keep their order even if the request of one of them is refused", async () => {
  const wadi = memoryWadi();
  const sent: unknown[] = [];
  interceptOperations(wadi, "submit", async (send, _, { statements }) => {
    const params = statements.flatMap((statement) => statement.params);
    const tasks: { payload: number }[] = JSON.parse(
      params.map(String).find((param) => param.includes('"payload":'))!,
    );
    if (tasks.length > 1) throw new DriverError("refused", {});
    const { payload } = tasks[0]!;
    // The first of them takes longest: what does not wait for it would overtake it.
    if (payload === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    sent.push(payload);
    return send();
  });
  const keys = ["a", "b", "a", "b"];
  await Promise.all(keys.map((key, n) => wadi.submit("t", n, { key, conflict: "replace" })));
  expect(sent).toEqual([0, 1, 2, 3]);
});

test.each(targets)(
  "a drain that begins after its deadline does nothing and says so, on $name",
  async (target) => {
    const { executor, close } = await target.open();
    try {
      const wadi = new Wadi(executor);
      await wadi.submit("a", 1);
      const worker = new Worker(wadi).task("a", () => 1);
      expect(await worker.drain({ deadline: Date.now() - 5000 })).toMatchObject({ claimed: 0, more: true });
      expect(await worker.drain({ budgetMs: 1 })).toMatchObject({ failed: 0, lost: 0 });
    } finally {
      await close();
    }
  },
);
