// Reads the rows of the demo's tasks.

import type { FileReport } from "../../examples/demo/report.ts";
import type { Task, Wadi } from "../../src/index.ts";

export type FileTask = Task<{ path: string }, FileReport>;

const PAGE = 1000;

/** Every task in the database, newest first. The demo has one kind of task, so all rows are of its type. */
export async function allTasks(wadi: Wadi): Promise<FileTask[]> {
  const tasks: FileTask[] = [];
  for (;;) {
    const page = (await wadi.list({ limit: PAGE, offset: tasks.length })) as FileTask[];
    tasks.push(...page);
    if (page.length < PAGE) return tasks;
  }
}

/** The tasks that an invocation holds, or has run: its name begins the lease token in the row. */
export function tasksOf(invocation: string, tasks: readonly FileTask[]): FileTask[] {
  return tasks.filter((task) => task.workerId?.startsWith(`${invocation}:`));
}
