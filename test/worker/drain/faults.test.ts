// Errors of the platform and of hooks during a drain.

import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Worker, type WorkerHooks } from "../../../src/index.ts";
import { memoryWadi } from "../../../testing/memory.ts";
import { until } from "../../../testing/until.ts";

const turns = vi.hoisted(() => ({ error: null as Error | null }));

vi.mock("../../../src/worker/drain/next-turn.ts", async (load) => {
  const { nextTurn } = await load<typeof import("../../../src/worker/drain/next-turn.ts")>();
  return { nextTurn: () => (turns.error === null ? nextTurn() : Promise.reject(turns.error)) };
});

const unhandled: unknown[] = [];
const keep = (error: unknown) => void unhandled.push(error);
beforeEach(() => {
  unhandled.length = 0;
  turns.error = null;
  process.on("unhandledRejection", keep);
});
afterEach(async () => {
  await new Promise((resolve) => setTimeout(resolve, 5));
  process.off("unhandledRejection", keep);
  expect(unhandled).toEqual([]);
});

const some = (count: number) => Array.from({ length: count }, (_, payload) => ({ payload }));

test.each(["drain", "run"] as const)("a platform that gives no turn is the error of %s", async (how) => {
  const wadi = memoryWadi();
  await wadi.submitMany("a", some(50));
  turns.error = new Error("no turns here");
  const worker = new Worker(wadi, { prefetch: 20 }).task("a", () => 1);
  await expect(worker[how]()).rejects.toThrow("no turns here");
  expect(worker.stats().state).toBe("stopped");
});

test("a drain that fails stops its handlers and ends when they have returned, or were cut off", async () => {
  const wadi = memoryWadi();
  await wadi.submitMany("slow", some(2));
  await wadi.submit("deaf", null);
  const seen = { aborted: 0, returned: 0 };
  const worker = new Worker(wadi, { concurrency: 3 })
    .task("slow", async ({ signal }) => {
      turns.error = new Error("no turns here");
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      seen.aborted++;
      await new Promise((resolve) => setTimeout(resolve, 20));
      seen.returned++;
    })
    .task("deaf", () => new Promise<never>(() => {}));
  const drained = worker.drain();
  const submitting = setInterval(() => void wadi.submit("slow", null).catch(() => {}), 1);
  await expect(drained).rejects.toThrow("no turns here");
  clearInterval(submitting);
  expect(seen.aborted).toBeGreaterThan(0);
  expect(seen.returned).toBe(seen.aborted);
});

/** A promise of another realm, which is no instance of this one's Promise. */
const foreign = () => runInNewContext("Promise.reject(new Error('elsewhere'))") as Promise<never>;

test("hooks and handlers whose promises are of another realm reject into the worker's hands", async () => {
  const wadi = memoryWadi();
  const errors: unknown[] = [];
  const onEvent = (() => foreign()) as WorkerHooks["onEvent"];
  const onError = ((error: Error) => {
    errors.push(error.message);
    return foreign();
  }) as unknown as WorkerHooks["onError"];
  const { id } = await wadi.submit("a", null, { maxAttempts: 1 });
  await new Worker(wadi, { onEvent, onError, logger: null }).task("a", foreign).drain();
  await until(() => errors.length >= 3);
  expect((await wadi.get(id))!.error).toMatchObject({ message: "elsewhere", code: "handler_error" });
  expect(errors).toContain("elsewhere");
});
