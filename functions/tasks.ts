import * as v from "valibot";
import { defineTask, type Wadi, Worker } from "../src/core/index.ts";
import { textStats } from "./text-stats.ts";

/** Counts lines, words, headings and the longest paragraph of a Markdown text. */
export const textStatsTask = defineTask({
  name: "text.stats",
  payload: v.object({ text: v.string() }),
  maxRunMs: 5000,
});

/** Tasks that may be submitted over HTTP. */
export const tasks = [textStatsTask];

/** The worker of both platforms. These handlers need no I/O, so many of them share one settlement. */
export function createWorker(wadi: Wadi): Worker {
  return new Worker(wadi, { concurrency: 50 }).task(textStatsTask, ({ payload }) => textStats(payload.text));
}
