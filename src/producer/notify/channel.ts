import { type Backoff, backoffDelay } from "../../core/backoff.ts";
import type { Executor } from "../../core/executor.ts";

/**
 * Where signals come from at present: from this Wadi alone (`local`), from the database too (`listening`), or from this
 * Wadi alone because the database cannot be listened to just now (`polling`).
 */
export type WakeSource = "local" | "listening" | "polling";

/** How long a connection is kept that nothing uses. */
const IDLE_MS = 60_000;
/** How soon a lost connection is opened again. */
const RECONNECT: Backoff = { baseMs: 1000, capMs: 30_000 };

/**
 * One channel of the database: opened by its first user, opened again while it has users, and given up a minute after the
 * last of them, so that a module that is loaded again leaves no connection behind.
 */
export class Channel {
  readonly #executor: Executor;
  readonly #name: string;
  readonly #users: { readonly size: number };
  /** Called with null when the connection was opened or lost: signals may have been missed. */
  readonly #onSignal: (payload: string | null, error?: unknown) => void;
  #link: Promise<(() => void) | undefined> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  #retryAtMs = 0;
  #isClosed = false;
  state: WakeSource = "local";

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
    clearTimeout(this.#idleTimer);
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
    if (this.#link === undefined) return;
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => void this.#letGo(), IDLE_MS);
    (this.#idleTimer as { unref?(): void }).unref?.();
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isClosed = true;
    await this.#letGo();
  }

  async #letGo(): Promise<void> {
    clearTimeout(this.#idleTimer);
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
      clearTimeout(this.#idleTimer);
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
