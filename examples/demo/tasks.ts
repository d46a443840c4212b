import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
// An application imports these from "wadi", and the driver from "wadi/better-sqlite3".
import { defineTask, type TaskContext } from "../../src/index.ts";
import { ROOT } from "./files.ts";
import { type FileReport, reportOn } from "./report.ts";

interface File {
  path: string;
}

/** What producers and workers share: the task's name, its types, and how long one attempt may take. */
export const inspectFile = defineTask<File, FileReport>({ name: "file.inspect", maxRunMs: 500 });

/** The business key of a file's task: a caller that knows the path can wait for the result. */
export const keyOf = (path: string) => `file:${path}`;

// Counting takes under a millisecond. The pause stands in for the slow part of a real task, a call over the
// network, so that there is something to see and an invocation can be killed while it holds tasks.
const PACE_MS = 80;

/** The handler. It may run more than once for a task, so it only reads; its return value is the task's result. */
export async function inspect({ payload, signal }: TaskContext<File, FileReport>): Promise<FileReport> {
  const text = await readFile(join(ROOT, payload.path), { encoding: "utf8", signal });
  await sleep(PACE_MS, undefined, { signal });
  return reportOn(payload.path, text);
}
