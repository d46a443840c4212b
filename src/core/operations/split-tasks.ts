/** Splits a submit of many tasks by the sizes that the database accepts. */

import type { Limits } from "../executor.ts";
import { NO_LIMIT } from "../infinity.ts";
import { byteLength } from "../json/json.ts";
import type { NewTask } from "./submit.ts";

/** Bytes of a task in addition to its texts: field names, numbers, ids and quotes, unescaped and escaped. */
const OVERHEAD = { param: 400, request: 500 };

/** The same for the fields that decide about a key, which several statements of one submit carry. */
const KEY_OVERHEAD = { request: 200, statements: 4 };

/** Bytes of a request in addition to its tasks: the text of the statements. */
const REQUEST_BYTES = 50_000;

export type SplitLimits = Pick<Limits, "maxParamBytes" | "maxRequestBytes">;

interface Size {
  /** In the parameter that carries the task. */
  readonly param: number;
  /** In the whole request. */
  readonly request: number;
}

/** The most bytes that a text takes, unescaped and inside another JSON text. */
interface Measure {
  plain(text: string): number;
  escaped(text: string): number;
}

// A UTF-16 unit takes at most 3 bytes. Most lists fit by that bound, and need no encoding to be measured.
const BOUND: Measure = { plain: (text) => text.length * 3, escaped: (text) => text.length * 6 };

const EXACT: Measure = {
  plain: byteLength,
  escaped: (text) => byteLength(text) + countEscapes(text),
};

/** How many bytes it takes to escape a text that is JSON already. */
function countEscapes(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22 || code === 0x5c) count++;
  }
  return count;
}

/** An upper bound of the bytes that a task takes. */
function sizeOf({ columns, key }: NewTask, { plain, escaped }: Measure): Size {
  const { name, queue, correlation_id, concurrency_key, metadata, payload } = columns;
  const texts = JSON.stringify([name, queue, correlation_id, concurrency_key, key]);
  const keys =
    key === null
      ? 0
      : KEY_OVERHEAD.statements * (KEY_OVERHEAD.request + escaped(JSON.stringify([key, name, name])));
  return {
    param: OVERHEAD.param + plain(texts) + plain(metadata) + plain(payload),
    request: OVERHEAD.request + escaped(texts) + escaped(metadata) + escaped(payload) + keys,
  };
}

/**
 * Splits tasks into runs that each fit one statement parameter and one request, and that hold each key at most once.
 * Order is kept, so that a second submit of a key finds the task of the first, as if each had been sent separately.
 */
export function splitTasks(tasks: readonly NewTask[], limits: SplitLimits): NewTask[][] {
  const maxParam = limits.maxParamBytes;
  const maxRequest = (limits.maxRequestBytes ?? NO_LIMIT) - REQUEST_BYTES;
  const fits = ({ param, request }: Size) => param <= maxParam && request <= maxRequest;
  const bounds = tasks.map((task) => sizeOf(task, BOUND));
  const fitsAll = fits(bounds.reduce(add, { param: 0, request: 0 }));
  const runs: NewTask[][] = [];
  let run: NewTask[] = [];
  let keys = new Set<string>();
  let filled: Size = { param: 0, request: 0 };
  for (const [i, task] of tasks.entries()) {
    const size = fitsAll ? bounds[i]! : sizeOf(task, EXACT);
    if (run.length > 0 && (!fits(add(filled, size)) || (task.key !== null && keys.has(task.key)))) {
      runs.push(run);
      run = [];
      keys = new Set();
      filled = { param: 0, request: 0 };
    }
    run.push(task);
    if (task.key !== null) keys.add(task.key);
    filled = add(filled, size);
  }
  if (run.length > 0) runs.push(run);
  return runs;
}

function add(a: Size, b: Size): Size {
  return { param: a.param + b.param, request: a.request + b.request };
}
