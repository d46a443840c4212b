/** A file to which the handlers of all processes append when they work. A line is kept if its process is killed. */

import { openSync, readFileSync, writeSync } from "node:fs";

/** One call of a handler. Times are in milliseconds of the machine's monotonic clock, which all processes share. */
export interface Run {
  readonly run: string;
  readonly task: string;
  readonly invocation: number;
  readonly startedAtMs: number;
  /** When it returned, or stopped because its signal aborted; null if its process was killed before. */
  readonly endedAtMs: number | null;
}

/** Milliseconds of the machine's monotonic clock. */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Appends what the handlers of one process do. */
export class WorkLog {
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, "a");
  }

  /** Returns the id of the run. */
  start(task: string, invocation: number): string {
    const run = crypto.randomUUID();
    this.#append("start", run, task, invocation);
    return run;
  }

  end(run: string): void {
    this.#append("end", run);
  }

  #append(...words: (string | number)[]): void {
    writeSync(this.#file, `${machineMs()} ${words.join(" ")}\n`);
  }
}

/** Reads the runs of all processes. */
export function readRuns(path: string): Run[] {
  const runs = new Map<string, Run>();
  for (const line of readFileSync(path, "utf8").split("\n").slice(0, -1)) {
    const [atMs, what, run, task, invocation] = line.split(" ") as [string, string, string, string, string];
    if (what === "start") {
      const begun = { run, task, invocation: Number(invocation), startedAtMs: Number(atMs) };
      runs.set(run, { ...begun, endedAtMs: null });
    } else runs.set(run, { ...runs.get(run)!, endedAtMs: Number(atMs) });
  }
  return [...runs.values()];
}
