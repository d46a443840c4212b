import type { Executor } from "./executor.ts";

/** The channel on which the database tells the id of each task that became terminal. */
const CHANNEL = "cairnq_done";

export interface Wake {
  /** Resolves when the task became terminal. */
  readonly fired: Promise<void>;
  release(): void;
}

/**
 * Tells waiters at once that their task is done, over one LISTEN connection that is opened by the first
 * wait. It only shortens a wait: when it cannot listen, or the connection is lost, the waits poll.
 */
export class DoneSignals {
  readonly #executor: Executor;
  readonly #waiting = new Map<string, Set<() => void>>();
  #listening: Promise<(() => void) | null> | undefined;

  constructor(executor: Executor) {
    this.#executor = executor;
  }

  /** Does not wait for the connection: a pool may have none to give. */
  subscribe(id: string): Wake {
    this.#listening ??= this.#listen();
    let fire = (): void => {};
    const fired = new Promise<void>((resolve) => {
      fire = resolve;
    });
    const waiters = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, waiters.add(fire));
    const release = () => {
      waiters.delete(fire);
      if (waiters.size === 0 && this.#waiting.get(id) === waiters) this.#waiting.delete(id);
    };
    return { fired, release };
  }

  async close(): Promise<void> {
    const stop = await this.#listening;
    this.#listening = undefined;
    stop?.();
  }

  #listen(): Promise<(() => void) | null> {
    const onSignal = (_channel: string, id: string) => {
      for (const fire of this.#waiting.get(id) ?? []) fire();
    };
    const onClose = () => {
      this.#listening = undefined;
    };
    return this.#executor.listen!([CHANNEL], onSignal, onClose).catch(() => null);
  }
}
