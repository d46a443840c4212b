import { byteLength } from "./json.ts";
import type { NewTask } from "./operations/submit.ts";

/** What a task takes beside its texts: field names, numbers, ids, quotes. */
const OVERHEAD_BYTES = 400;

/** An upper bound of the bytes a task takes in a statement's parameter. */
function taskBytes({ columns, key }: NewTask, textBytes: (text: string) => number): number {
  const { name, queue, correlation_id, concurrency_key } = columns;
  const texts = [name, queue, correlation_id ?? "", concurrency_key, key ?? ""];
  const escaped = 6 * texts.join("").length;
  return OVERHEAD_BYTES + escaped + textBytes(columns.metadata) + textBytes(columns.payload);
}

/**
 * Splits tasks into runs that each fit one statement parameter and hold each key once. Order is kept, so
 * that a second submit of the same key meets the first one as it would if it were sent by itself.
 */
export function splitTasks(tasks: readonly NewTask[], maxBytes: number): NewTask[][] {
  // No UTF-16 unit takes more than 3 bytes: most lists fit by that bound and need no encoding.
  const bound = tasks.reduce((sum, task) => sum + taskBytes(task, (text) => text.length * 3), 0);
  const sizeOf = bound <= maxBytes ? () => 0 : (task: NewTask) => taskBytes(task, byteLength);
  const runs: NewTask[][] = [];
  let run: NewTask[] = [];
  let keys = new Set<string>();
  let bytes = 0;
  for (const task of tasks) {
    const size = sizeOf(task);
    if (run.length > 0 && (bytes + size > maxBytes || (task.key !== null && keys.has(task.key)))) {
      runs.push(run);
      run = [];
      keys = new Set();
      bytes = 0;
    }
    run.push(task);
    if (task.key !== null) keys.add(task.key);
    bytes += size;
  }
  if (run.length > 0) runs.push(run);
  return runs;
}
