/** One connection that listens to a channel of the database, and what becomes of it when it is lost or unused. */
import { type Backoff, backoffDelay } from "../../core/backoff.ts";
import type { Executor } from "../../core/executor.ts";

/**
 * Where notifications come from at present: from this process alone (`local`), from the database too (`listening`), or
 * from this process alone while the connection that listens to the database is lost (`polling`).
 */
export type WakeSource = "local" | "listening" | "polling";

/** How long an unused connection is kept. */
const IDLE_MS = 60_000;
/** How soon a lost connection is opened again. */
const RECONNECT: Backoff = { baseMs: 1000, capMs: 30_000 };

/** A null payload: the connection was opened, or lost because of `error`, so notifications may have been missed. */
type OnNotification = (payload: string | null, error?: unknown) => void;

/**
 * A connection that listens to one channel of the database. It is opened by its first user, opened again while it has
 * users, and closed a minute after the last of them, so that a module that is loaded again leaves no connection behind.
 */
export class ChannelConnection {
  readonly #executor: Executor;
  readonly #name: string;
  readonly #onNotification: OnNotification;
  #users = 0;
  #link: Promise<(() => void) | undefined> | undefined;
  #reconnectTimer: ReturnType<typeof setTimeout> | undefined;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  #retryAtMs = 0;
  #isClosed = false;
  #state: WakeSource = "local";

  constructor(executor: Executor, name: string, onNotification: OnNotification) {
    this.#executor = executor;
    this.#name = name;
    this.#onNotification = onNotification;
  }

  get state(): WakeSource {
    return this.#state;
  }

  addUser(): void {
    this.#users++;
    this.#open();
  }

  /** There is a user: connects unless it is connected, or connecting. */
  #open(): void {
    clearTimeout(this.#idleTimer);
    if (this.#executor.listen === undefined || this.#isClosed) return;
    if (this.#link !== undefined || this.#reconnectTimer !== undefined) return;
    const pauseMs = this.#retryAtMs - Date.now();
    const connect = () => {
      this.#reconnectTimer = undefined;
      this.#connect();
    };
    if (pauseMs <= 0) connect();
    else this.#reconnectTimer = setTimeout(connect, pauseMs);
  }

  /** A user has left. Without users it does not reconnect, and no timer keeps the process alive. */
  removeUser(): void {
    if (--this.#users > 0) return;
    clearTimeout(this.#reconnectTimer);
    this.#reconnectTimer = undefined;
    if (this.#link === undefined) return;
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => void this.#disconnect(), IDLE_MS);
    (this.#idleTimer as { unref?(): void }).unref?.();
  }

  /** For good. */
  async close(): Promise<void> {
    clearTimeout(this.#reconnectTimer);
    this.#reconnectTimer = undefined;
    this.#isClosed = true;
    await this.#disconnect();
  }

  async #disconnect(): Promise<void> {
    clearTimeout(this.#idleTimer);
    const stopped = this.#link?.then((stop) => stop?.());
    const isOpen = this.#state === "listening";
    this.#link = undefined;
    this.#state = "local";
    if (isOpen) await stopped; // one that is being opened ends itself later: a pool may have no connection free
  }

  #connect(): void {
    this.#state = "polling";
    const lost = (error: unknown = new Error("the connection that listened was lost")) => {
      if (this.#link !== link) return;
      this.#link = undefined;
      clearTimeout(this.#idleTimer);
      this.#state = this.#users > 0 ? "polling" : "local";
      this.#retryAtMs = Date.now() + backoffDelay(RECONNECT, ++this.#failures);
      if (this.#users > 0) this.#open();
      this.#onNotification(null, error);
    };
    const opened = this.#executor.listen!([this.#name], (_, payload) => this.#onNotification(payload), lost);
    const link = opened.then(
      (stop) => {
        if (this.#link !== link) return stop; // disconnected in the meantime, which calls it
        this.#failures = 0;
        this.#state = "listening";
        this.#onNotification(null);
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
