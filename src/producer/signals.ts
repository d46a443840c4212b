import { type Backoff, backoffDelay } from "../core/backoff.ts";
import type { Executor } from "../core/executor.ts";

/**
 * Where signals come from at present: from this Wadi alone (`local`), from the database too (`listening`), or from this
 * Wadi alone because the database cannot be listened to just now (`polling`).
 */
export type SignalState = "local" | "listening" | "polling";

/**
 * Told which queues got tasks; null if that is not known, since a connection was opened or lost, and then `error` says
 * why it was. Must not throw.
 */
export type QueuedListener = (queues: readonly string[] | null, error?: unknown) => void;

export interface Wake {
  /** Resolves when the task became terminal. */
  readonly fired: Promise<void>;
  release(): void;
}

/** How soon a lost connection is opened again. */
const RECONNECT: Backoff = { baseMs: 1000, capMs: 30_000 };

/**
 * Tells at once what others would learn by polling: that a task is done, and that a queue has work. It knows of what
 * this Wadi did, and of what others did where the database can be listened to. It only shortens a wait: whoever
 * waits polls too.
 */
export class Signals {
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #listeners = new Set<QueuedListener>();
  readonly #done: Channel;
  readonly #queued: Channel;

  constructor(executor: Executor) {
    this.#done = new Channel(executor, "cairnq_done", this.#waiting, (id) => {
      // What ended while the connection was being opened was told to nobody: let them look.
      if (id !== null) this.done([id]);
      else if (this.#done.state === "listening") this.done(this.#waiting.keys());
    });
    this.#queued = new Channel(executor, "cairnq_queued", this.#listeners, (queue, error) =>
      this.queued(queue === null ? null : [queue], error),
    );
  }

  get state(): SignalState {
    const states = [this.#done.state, this.#queued.state];
    return (
      states.find((state) => state === "polling") ?? states.find((state) => state !== "local") ?? "local"
    );
  }

  /** Wakes those who wait for these tasks. Call it once they are terminal in the database. */
  done(ids: Iterable<string>): void {
    for (const id of ids) for (const fire of this.#waiting.get(id) ?? []) fire();
  }

  /** Wakes those who wait for work. Call it once the database has the tasks, also those that are due later. */
  queued(queues: readonly string[] | null, error?: unknown): void {
    for (const listener of this.#listeners) listener(queues, error);
  }

  /** Begins to wait for the end of a task. Does not wait for the connection: a pool may have none to give. */
  subscribe(id: string): Wake {
    let fire = (): void => {};
    const fired = new Promise<void>((resolve) => {
      fire = resolve;
    });
    const waiters = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, waiters.add(fire));
    this.#done.open();
    const release = () => {
      waiters.delete(fire);
      if (waiters.size === 0 && this.#waiting.get(id) === waiters) this.#waiting.delete(id);
      this.#done.rest();
    };
    return { fired, release };
  }

  /** Calls `listener` when queues got due tasks, until the returned function is called. */
  onQueued(listener: QueuedListener): () => void {
    this.#listeners.add(listener);
    this.#queued.open();
    return () => {
      this.#listeners.delete(listener);
      this.#queued.rest();
    };
  }

  /** Stops to listen, for good: those who wait go on by polling alone. */
  async close(): Promise<void> {
    await Promise.all([this.#done.close(), this.#queued.close()]);
  }
}

/** One channel of the database: opened by its first user, kept, and opened again while it has users. */
class Channel {
  readonly #executor: Executor;
  readonly #name: string;
  readonly #users: { readonly size: number };
  /** Called with null when the connection was opened or lost: signals may have been missed. */
  readonly #onSignal: (payload: string | null, error?: unknown) => void;
  #link: Promise<(() => void) | undefined> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  #retryAtMs = 0;
  #isClosed = false;
  state: SignalState = "local";

  constructor(
    executor: Executor,
    name: string,
    users: { readonly size: number },
    onSignal: (payload: string | null, error?: unknown) => void,
  ) {
    this.#executor = executor;
    this.#name = name;
    this.#users = users;
    this.#onSignal = onSignal;
  }

  open(): void {
    if (this.#executor.listen === undefined || this.#isClosed) return;
    if (this.#link !== undefined || this.#timer !== undefined) return;
    const pauseMs = this.#retryAtMs - Date.now();
    const connect = () => {
      this.#timer = undefined;
      this.#connect();
    };
    if (pauseMs <= 0) connect();
    else this.#timer = setTimeout(connect, pauseMs);
  }

  /** Without users nothing is tried again, and no timer keeps the process alive. */
  rest(): void {
    if (this.#users.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isClosed = true;
    const stopped = this.#link?.then((stop) => stop?.());
    const isOpen = this.state === "listening";
    this.#link = undefined;
    this.state = "local";
    if (isOpen) await stopped; // one that is being opened stops once it is: a pool may have none to give
  }

  #connect(): void {
    this.state = "polling";
    const lost = (error: unknown = new Error("the connection that listened was lost")) => {
      if (this.#link !== link) return;
      this.#link = undefined;
      this.state = this.#users.size > 0 ? "polling" : "local";
      this.#retryAtMs = Date.now() + backoffDelay(RECONNECT, ++this.#failures);
      if (this.#users.size > 0) this.open();
      this.#onSignal(null, error);
    };
    const opened = this.#executor.listen!([this.#name], (_, payload) => this.#onSignal(payload), lost);
    const link = opened.then(
      (stop) => {
        if (this.#link !== link) return stop; // closed in the meantime, which stops it
        this.#failures = 0;
        this.state = "listening";
        this.#onSignal(null);
        return stop;
      },
      (error) => {
        lost(error);
        return undefined;
      },
    );
    this.#link = link;
  }
}
