// Progress that a handler reports.

import { expect, test } from "vitest";
import { Wadi, Worker } from "../../../src/index.ts";
import { memoryWadi } from "../../../testing/memory.ts";
import { pickTargets } from "../../../testing/targets.ts";

test("progress takes a number from 0 to 1 or null, and refuses the rest", async () => {
  const wadi = memoryWadi();
  const { id } = await wadi.submit("a", null);
  const refused: unknown[] = [];
  await new Worker(wadi)
    .task("a", async ({ progress }) => {
      for (const value of [Number.NaN, Number.POSITIVE_INFINITY, -0.1, 1.1, 50, "0.5", undefined, {}]) {
        await progress(value as number).catch((error: unknown) => refused.push(error));
      }
      await progress(0.5, 5 as never).catch((error: unknown) => refused.push(error));
      await progress(0);
      await progress(0.25, "a quarter");
      await progress(null, "later");
      throw new Error("keep the progress");
    })
    .drain({ maxTasks: 1 });
  expect(refused).toHaveLength(9);
  for (const error of refused) expect(error).toMatchObject({ name: "InvalidArgument" });
  expect(String(refused[4])).toContain("progress must be a number from 0 to 1, or null, got 50");
  expect(await wadi.failures(id)).toHaveLength(1);
});

test.each(pickTargets(["better-sqlite3-memory", "pglite"]))(
  "no text loses a byte order mark in silence, on $name",
  async ({ open }) => {
    const { executor, close } = await open();
    try {
      const wadi = new Wadi(executor);
      const mark = "\ufeffa";
      for (const options of [{ key: mark }, { queue: mark }, { correlationId: mark }]) {
        await expect(wadi.submit("a", 1, options)).rejects.toThrow(/byte order mark/);
      }
      await expect(wadi.submit(mark, 1)).rejects.toThrow(/byte order mark/);
      const { id } = await wadi.submit("a", { [mark]: mark }, { metadata: { [mark]: mark } });
      const seen: unknown[] = [];
      await new Worker(wadi)
        .task("a", async ({ progress, payload }) => {
          seen.push(payload);
          await progress(0.5, mark);
          seen.push((await wadi.getStatus(id))?.message);
          return mark;
        })
        .drain();
      expect(seen).toEqual([{ [mark]: mark }, "a"]);
      expect(await wadi.get(id)).toMatchObject({ result: mark, metadata: { [mark]: mark } });
    } finally {
      await close();
    }
  },
);
