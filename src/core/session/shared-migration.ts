/** One run of the migrations that all calls of a session share. */
import { RequestAbort } from "./request-abort.ts";

interface Run {
  readonly done: Promise<void>;
  readonly abort: RequestAbort;
  waiters: number;
}

export class SharedMigration {
  #run: Run | undefined;

  /**
   * Waits with `wait` for the run in flight, or for a new one. The run is aborted when its last waiter stops waiting,
   * because its connection may be half-open.
   */
  async join(
    start: (abort: RequestAbort) => Promise<void>,
    wait: (done: Promise<void>) => Promise<void>,
  ): Promise<void> {
    const run = this.#run ?? this.#begin(start);
    run.waiters++;
    try {
      await wait(run.done);
    } finally {
      if (--run.waiters === 0) {
        if (this.#run === run) this.#run = undefined;
        run.abort.abort(new Error("no answer came in time"));
      }
    }
  }

  #begin(start: (abort: RequestAbort) => Promise<void>): Run {
    const abort = new RequestAbort();
    const run = { done: start(abort), abort, waiters: 0 };
    this.#run = run;
    return run;
  }
}
