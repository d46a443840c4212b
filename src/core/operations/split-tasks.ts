import type { Limits } from "../executor.ts";
import { byteLength } from "../json/json.ts";
import type { NewTask } from "./submit.ts";

/** What a task takes in addition to its texts: field names, numbers, ids and quotes, as they are and escaped. */
const OVERHEAD = { param: 400, request: 500 };

/** The same for what decides about a key, which several statements of one submit carry. */
const KEY_OVERHEAD = { request: 200, statements: 4 };

/** What a request takes in addition to its tasks: the statements. */
const REQUEST_BYTES = 50_000;

export type SplitLimits = Pick<Limits, "maxParamBytes" | "maxRequestBytes">;

interface Size {
  /** In the parameter that carries the task. */
  readonly param: number;
  /** In the whole request. */
  readonly request: number;
}

/** How many bytes a text takes at most, as it is and inside of another JSON text. */
interface Measure {
  plain(text: string): number;
  escaped(text: string): number;
}

// No UTF-16 unit takes more than 3 bytes: most lists fit by that bound and need no encoding.
const BOUND: Measure = { plain: (text) => text.length * 3, escaped: (text) => text.length * 6 };

const EXACT: Measure = {
  plain: byteLength,
  escaped: (text) => byteLength(text) + countEscapes(text),
};

/** How many bytes JSON adds to a text that is JSON itself. */
function countEscapes(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22 || code === 0x5c) count++;
  }
  return count;
}

/** An upper bound of the bytes a task takes. */
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
 * Splits tasks into runs that each fit one statement parameter and one request, and hold each key once. Order is kept,
 * so that a second submit of the same key meets the first one as it would if it were sent by itself.
 */
export function splitTasks(tasks: readonly NewTask[], limits: SplitLimits): NewTask[][] {
  const maxParam = limits.maxParamBytes;
  const maxRequest = (limits.maxRequestBytes ?? Number.POSITIVE_INFINITY) - REQUEST_BYTES;
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
