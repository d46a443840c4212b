import { appendFileSync, existsSync, readFileSync } from "node:fs";
import type { TaskContext } from "../../../src/index.ts";

/** One call of a handler, as the handler recorded it outside of the database. */
export interface Run {
  readonly run: string;
  readonly id: string;
  readonly attempt: number;
  readonly worker: string;
  readonly startedAtMs: number;
  /** When the handler returned; null if it never did. */
  readonly doneAtMs: number | null;
}

/** What a handler returns: the stored result says which of its calls was settled. */
export interface RunResult {
  readonly run: string;
}

/**
 * A file to which the handlers of all processes append. A line is kept even if its process is killed.
 */
export class Ledger {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  start({ id, attempt }: Pick<TaskContext, "id" | "attempt">, worker: string): string {
    const run = crypto.randomUUID();
    this.#append("start", run, id, attempt, worker);
    return run;
  }

  done(run: string): void {
    this.#append("done", run);
  }

  read(): Run[] {
    if (!existsSync(this.path)) return [];
    const runs = new Map<string, Run>();
    for (const line of readFileSync(this.path, "utf8").split("\n").slice(0, -1)) {
      const [what, at, run, id, attempt, worker] = line.split(" ") as [string, string, string, ...string[]];
      const known = runs.get(run);
      if (what === "start") {
        const begun = { run, id: id!, attempt: Number(attempt), worker: worker! };
        runs.set(run, { ...begun, startedAtMs: Number(at), doneAtMs: null });
      } else if (known !== undefined) runs.set(run, { ...known, doneAtMs: Number(at) });
    }
    return [...runs.values()];
  }

  #append(what: string, ...rest: (string | number)[]): void {
    appendFileSync(this.path, `${[what, Date.now(), ...rest].join(" ")}\n`);
  }
}
