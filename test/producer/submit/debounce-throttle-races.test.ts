// Racing connections that debounce or throttle one key.

import { expect, test } from "vitest";
import type { Executor } from "../../../src/core/executor.ts";
import { type SubmittedTask, Wadi, Worker } from "../../../src/index.ts";
import { pickTargets } from "../../../testing/targets.ts";

const CONNECTIONS = 16;
const ROUNDS = 6;
const targets = pickTargets(["better-sqlite3-file", "libsql-http", "d1", "pg", "neon-http"]);

/** Runs `work` on 16 connections of a new database at once, and `check` after it. */
async function race(
  target: (typeof targets)[number],
  work: (wadi: Wadi, i: number) => Promise<SubmittedTask[]>,
  check: (submitted: SubmittedTask[], wadi: Wadi) => Promise<void>,
): Promise<void> {
  const { executor, connect, close } = await target.open();
  const more: Executor[] = [];
  try {
    const wadi = new Wadi(executor);
    await wadi.migrate();
    for (let i = 1; i < CONNECTIONS; i++) more.push(await connect());
    const wadis = [wadi, ...more.map((each) => new Wadi(each))];
    await check((await Promise.all(wadis.map(work))).flat(), wadi);
  } finally {
    await Promise.all(more.map((each) => each.close()));
    await close();
  }
}

test.each(targets)("16 connections that debounce one key end with one task, on $name", async (target) => {
  const submits = async (wadi: Wadi, i: number) => {
    const submitted: SubmittedTask[] = [];
    for (let n = 0; n < ROUNDS; n++) {
      submitted.push(await wadi.submit("a", `${i}.${n}`, { key: "k", debounce: { delayMs: 60_000 } }));
    }
    return submitted;
  };
  await race(target, submits, async (submitted, wadi) => {
    const [task, ...others] = await wadi.list();
    expect(others).toEqual([]);
    expect(submitted.filter(({ outcome }) => outcome === "created").length).toBe(1);
    expect(submitted.filter(({ outcome }) => outcome === "debounced").length).toBe(CONNECTIONS * ROUNDS - 1);
    expect(new Set(submitted.map(({ id }) => id))).toEqual(new Set([task!.id]));
    // Each answer shows the row as that commit left it: the newest of them is the row as it is.
    const lastMs = Math.max(...submitted.map(({ updatedAtMs }) => updatedAtMs));
    expect(task!.updatedAtMs).toBe(lastMs);
    expect(task!.runAtMs).toBe(lastMs + 60_000);
    const newest = submitted.filter(({ updatedAtMs }) => updatedAtMs === lastMs);
    expect(newest.map(({ payload }) => payload)).toContain(task!.payload);
  });
});

test.each(targets)("16 connections that throttle one key create one task, on $name", async (target) => {
  const submits = async (wadi: Wadi) => {
    const submitted: SubmittedTask[] = [];
    for (let n = 0; n < ROUNDS; n++) {
      const conflict = n % 2 ? "replace" : "reuse";
      submitted.push(await wadi.submit("a", n, { key: "k", conflict, throttle: { perMs: 600_000 } }));
    }
    return submitted;
  };
  await race(target, submits, async (submitted, wadi) => {
    expect((await wadi.list()).map(({ status }) => status)).toEqual(["queued"]);
    expect(submitted.filter(({ outcome }) => outcome === "created").length).toBe(1);
    expect(submitted.filter(({ outcome }) => outcome === "reused").length).toBe(CONNECTIONS * ROUNDS - 1);
  });
});

test.each(pickTargets(["better-sqlite3-file", "pg"]))(
  "a debounce that races with claims loses no payload, on $name",
  async (target) => {
    const ran: unknown[] = [];
    let open = CONNECTIONS - 2;
    const work = async (wadi: Wadi, i: number) => {
      const submitted: SubmittedTask[] = [];
      if (i < 2) {
        // Some attempts fail, so that running tasks are queued again while they are debounced.
        const worker = new Worker(wadi, { backoff: { baseMs: 0, capMs: 0 } }).task(
          "a",
          ({ payload, attempt }) => {
            if (attempt === 1) throw new Error("once more");
            ran.push(payload);
          },
        );
        while (open > 0) await worker.drain({ budgetMs: 5000 });
        return submitted;
      }
      for (let n = 0; n < 10; n++) {
        submitted.push(
          await wadi.submit("a", `${i}.${n}`, { key: "k", maxAttempts: 99, debounce: { delayMs: 1 } }),
        );
      }
      open--;
      return submitted;
    };
    await race(target, work, async (submitted, wadi) => {
      const worker = new Worker(wadi).task("a", ({ payload }) => void ran.push(payload));
      while ((await wadi.stats()).default!.queued > 0) await worker.drain();
      const tasks = await wadi.list({ limit: 1000 });
      expect(tasks.every(({ status }) => status === "succeeded")).toBe(true);
      // The newest payload of each task is the one it ran with.
      for (const task of tasks) {
        const mine = submitted.filter(({ id }) => id === task.id);
        const lastMs = Math.max(...mine.map(({ updatedAtMs }) => updatedAtMs));
        const newest = mine.filter(({ updatedAtMs }) => updatedAtMs === lastMs);
        expect(newest.map(({ payload }) => payload)).toContain(task.payload);
        expect(ran).toContain(task.payload);
      }
    });
  },
);
