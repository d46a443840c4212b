// The result of the demo, as figures and as text.

import { keyOf } from "../../examples/demo/tasks.ts";
import type { FileTask } from "./rows.ts";
import type { Observed } from "./run.ts";

export interface Summary {
  readonly submitted: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Worker processes that were started, the killed one included. */
  readonly invocations: number;
  readonly killed: number;
  /** Tasks that the killed process held and that succeeded in a later attempt. */
  readonly redelivered: number;
  readonly waitedByKey: number;
  readonly seconds: number;
}

export function summarize(observed: Observed, tasks: readonly FileTask[], elapsedMs: number): Summary {
  const { submitted, invocations, killed, waitedByKey } = observed;
  return {
    submitted,
    succeeded: tasks.filter(({ status }) => status === "succeeded").length,
    failed: tasks.filter(({ status }) => status === "failed").length,
    invocations,
    killed,
    redelivered: redelivered(observed, tasks).length,
    waitedByKey,
    seconds: Number((elapsedMs / 1000).toFixed(1)),
  };
}

/** Broken promises of the demo, in words; empty if there are none. */
export function shortfalls(summary: Summary, observed: Observed, tasks: readonly FileTask[]): string[] {
  const { submitted, succeeded, redelivered, waitedByKey } = summary;
  const found: string[] = [];
  if (submitted === 0) found.push("no task was submitted");
  if (succeeded !== submitted) found.push(`${succeeded} of ${submitted} tasks succeeded`);
  for (const { payload, attempt, error } of tasks.filter(({ status }) => status === "failed"))
    found.push(`${payload.path} failed on attempt ${attempt}: ${error?.code}: ${error?.message}`);
  if (redelivered === 0) found.push("no task of a killed invocation was redelivered");
  if (waitedByKey !== observed.keys.length)
    found.push(`${waitedByKey} of ${observed.keys.length} waits by key got their result`);
  return found;
}

/** Modules made of other files: each is one long line after another, which says nothing about the repository. */
const GENERATED = /^src\/protocol\/|\/generated\//;

/** The result as text. */
export function story(summary: Summary, observed: Observed, tasks: readonly FileTask[]): string[] {
  const again = redelivered(observed, tasks);
  const waited = again.filter(({ payload }) => observed.keys.includes(keyOf(payload.path)));
  const largest = tasks
    .filter(({ payload }) => !GENERATED.test(payload.path))
    .flatMap(({ payload, result }) => (result === null ? [] : [{ path: payload.path, ...result }]))
    .sort((a, b) => b.words - a.words)
    .slice(0, 3);
  return [
    `${summary.succeeded} of ${summary.submitted} tasks succeeded and ${summary.failed} failed, ` +
      `in ${summary.seconds} s and ${summary.invocations} worker processes.`,
    `${summary.killed} of the processes was killed while it held ${observed.held.size} tasks; when their lease was ` +
      `over others ran them again, and ${again.length} succeeded in a later attempt.`,
    `${summary.waitedByKey} results reached the process that waited by key, ` +
      `${waited.length} of them were first held by the killed one.`,
    "The files with the most words, generated ones left out:",
    ...largest.map(
      ({ path, lines, words, headings, longestParagraph }) =>
        `  ${path}: ${words} words, ${lines} lines, ${headings} headings; ` +
        `longest paragraph ${longestParagraph.words} words, at line ${longestParagraph.line}`,
    ),
    "What succeeded, failed or ran again was counted from the rows in the database; the submits and the waits from " +
      "what the processes reported; the worker processes from how each of them started and ended.",
  ];
}

function redelivered({ held }: Observed, tasks: readonly FileTask[]): FileTask[] {
  return tasks.filter(({ id, status, attempt }) => held.has(id) && status === "succeeded" && attempt > 1);
}
