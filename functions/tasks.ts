import * as v from "valibot";
import { reportOn } from "../examples/demo/report.ts";
import { defineTask, type Wadi, Worker } from "../src/index.ts";

/** Counts lines, words and headings of a Markdown text, and finds its longest paragraph. */
export const textStats = defineTask({
  name: "text.stats",
  payload: v.object({ text: v.string() }),
  maxRunMs: 5000,
});

/** Tasks that may be submitted over HTTP. */
export const tasks = [textStats];

/** The worker of both platforms. These handlers need no I/O, so many of them share one settlement. */
export function createWorker(wadi: Wadi): Worker {
  return new Worker(wadi, { concurrency: 50 }).task(textStats, ({ payload }) =>
    reportOn("text.md", payload.text),
  );
}
