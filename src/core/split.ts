import { byteLength } from "./json.ts";
import { type NewTask, newTaskJson } from "./operations/submit.ts";

/**
 * Splits tasks into runs that each fit one statement parameter and hold each key once. Order is kept, so
 * that a second submit of the same key meets the first one as it would if it were sent by itself.
 */
export function splitTasks(tasks: readonly NewTask[], maxBytes: number): NewTask[][] {
  const runs: NewTask[][] = [];
  let run: NewTask[] = [];
  let keys = new Set<string>();
  let bytes = 2;
  for (const task of tasks) {
    const size = byteLength(newTaskJson(task)) + 1;
    if (run.length > 0 && (bytes + size > maxBytes || (task.key !== null && keys.has(task.key)))) {
      runs.push(run);
      run = [];
      keys = new Set();
      bytes = 2;
    }
    run.push(task);
    if (task.key !== null) keys.add(task.key);
    bytes += size;
  }
  if (run.length > 0) runs.push(run);
  return runs;
}
