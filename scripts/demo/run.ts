import { repositoryFiles } from "../../examples/demo/files.ts";
import { keyOf } from "../../examples/demo/tasks.ts";
import type { Task, Wadi } from "../../src/index.ts";
import { Invocations } from "./invocations.ts";
import type { Programs } from "./programs.ts";
import type { View } from "./view.ts";

/** The waiting process waits for every fourth file's task: likely to meet one that the killed process held. */
const WAIT_EVERY = 4;

/** The reports of the processes, and what the demo observed. */
export interface Observed {
  readonly submitted: number;
  readonly invocations: number;
  readonly killed: number;
  /** Ids of the tasks that the killed invocation held. */
  readonly held: ReadonlySet<string>;
  readonly keys: readonly string[];
  readonly waitedByKey: number;
}

/**
 * Runs the whole job: one process waits by key, one submits, and invocations drain, one of them killed on the way.
 * Ends when every task has succeeded or failed and the waiting process has its results.
 */
export async function run(
  wadi: Wadi,
  programs: Programs,
  file: string,
  view: View,
  signal: AbortSignal,
): Promise<Observed> {
  const keys = repositoryFiles()
    .filter((_, i) => i % WAIT_EVERY === 0)
    .map(keyOf);
  let waitedByKey = 0;
  const waiter = programs.start("wait.ts", [file, ...keys], (report) => {
    if ((report as Task).status === "succeeded") waitedByKey++;
  });
  // awaited at the end; this keeps an earlier failure from being an unhandled rejection
  waiter.wasKilled.catch(() => {});
  view.event(`process ${waiter.pid} waits for ${keys.length} tasks by key, before any exists`);

  let submitted = 0;
  const producer = programs.start("produce.ts", [file], (report) => {
    submitted += (report as { submitted: number }).submitted;
  });
  await producer.wasKilled;
  signal.throwIfAborted();
  view.event(`process ${producer.pid} submitted ${submitted} tasks and ended`);

  const invocations = new Invocations(wadi, programs, file, view, signal);
  await invocations.run();

  await waiter.wasKilled;
  signal.throwIfAborted();
  view.event(
    `process ${waiter.pid} got ${waitedByKey} of the ${keys.length} results it waited for and ended`,
  );
  const { started, killed, held } = invocations;
  return { submitted, invocations: started, killed, held, keys, waitedByKey };
}
