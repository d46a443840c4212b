/** Wakes the waits and workers of this process when tasks end, arrive or are asked to stop. */
import type { Executor } from "../../core/executor.ts";
import { ChannelConnection, type WakeSource } from "./channel-connection.ts";
import { ProcessRelay } from "./process-relay.ts";

/**
 * Called with the queues that got tasks; null if they are not known, because a connection was opened or lost, in which
 * case `error` says why. Must not throw.
 */
export type QueuedListener = (queues: readonly string[] | null, error?: unknown) => void;

/** Called with the running tasks that were asked to stop; null if they are not known. Must not throw. */
export type CancelListener = (ids: readonly string[] | null) => void;

/**
 * Reports at once what polling would find later: that a task has ended, that a queue got tasks, that a running task was
 * asked to stop. It reports what this process does, and what others do if the database supports LISTEN. Notifications
 * only shorten a wait: every waiter polls too.
 */
export class Notifier {
  readonly #waiters = new Map<string, Set<() => void>>();
  readonly #gapListeners = new Set<() => void>();
  readonly #queuedListeners = new Set<QueuedListener>();
  readonly #cancelListeners = new Set<CancelListener>();
  readonly #done: ChannelConnection;
  readonly #queued: ChannelConnection;
  readonly #canceled: ChannelConnection;
  readonly #shared: ProcessRelay;

  /** @param database What identifies the database within the process; see `Executor`. */
  constructor(executor: Executor, database: string | object | undefined = executor.database) {
    this.#shared = new ProcessRelay(database, {
      done: (ids) => this.#deliverDone(ids),
      queued: (queues) => this.#deliverQueued(queues),
      canceled: (ids) => this.#deliverCanceled(ids),
    });
    this.#done = new ChannelConnection(executor, "cairnq_done", (id) =>
      id === null ? this.#deliverGap() : this.#deliverDone([id]),
    );
    this.#queued = new ChannelConnection(executor, "cairnq_queued", (queue, error) =>
      this.#deliverQueued(queue === null ? null : [queue], error),
    );
    this.#canceled = new ChannelConnection(executor, "wadi_canceled", (id) =>
      this.#deliverCanceled(id === null ? null : [id]),
    );
  }

  /** Where notifications of new and of ended tasks come from at present, at the least. */
  get wakeSource(): WakeSource {
    const states = [this.#done.state, this.#queued.state];
    if (states.includes("polling")) return "polling";
    return states.includes("listening") ? "listening" : "local";
  }

  /** Where notifications of ended tasks come from at present. */
  get doneState(): WakeSource {
    return this.#done.state;
  }

  /** Whether the database announces due tasks at present. */
  get announcesQueued(): boolean {
    return this.#queued.state === "listening";
  }

  /** Wakes the waits of this process for these tasks. Call it once they are terminal in the database. */
  done(ids: readonly string[]): void {
    this.#deliverDone(ids);
    this.#shared.send((receiver) => receiver.done(ids));
  }

  /** Wakes the idle workers of this process. Call it once the database has the tasks, also if they are due later. */
  queued(queues: readonly string[] | null): void {
    this.#deliverQueued(queues);
    this.#shared.send((receiver) => receiver.queued(queues));
  }

  /** Reports cancel requests to the workers of this process. Call it once the database has them. */
  canceled(ids: readonly string[] | null): void {
    this.#deliverCanceled(ids);
    this.#shared.send((receiver) => receiver.canceled(ids));
  }

  /**
   * Calls `onDone` when the task has become terminal, until the returned function is called. Does not wait for the
   * connection: a pool may have none free.
   */
  subscribe(id: string, onDone: () => void): () => void {
    const waiters = this.#waiters.get(id) ?? new Set();
    this.#waiters.set(id, waiters.add(onDone));
    this.#shared.join();
    this.#done.addUser();
    return () => {
      if (!waiters.delete(onDone)) return;
      if (waiters.size === 0 && this.#waiters.get(id) === waiters) this.#waiters.delete(id);
      this.#done.removeUser();
      this.#leaveIfUnused();
    };
  }

  /** Whether this process waits for the end of the task; without an id, of any task. */
  awaits(id?: string): boolean {
    return id === undefined ? this.#waiters.size > 0 : this.#waiters.has(id);
  }

  /** Calls `listener` when notifications of ended tasks may have been missed, and when `doneState` changed. */
  onGap(listener: () => void): void {
    this.#gapListeners.add(listener);
  }

  /**
   * Calls `listener` when queues got tasks, until the returned function is called. Keeps a connection open, unless it
   * is passive: then it only uses one that is open.
   */
  onQueued(listener: QueuedListener, isPassive = false): () => void {
    return this.#listen(this.#queuedListeners, listener, isPassive ? null : this.#queued);
  }

  /** Calls `listener` when running tasks were asked to stop; otherwise as `onQueued`. */
  onCanceled(listener: CancelListener, isPassive = false): () => void {
    return this.#listen(this.#cancelListeners, listener, isPassive ? null : this.#canceled);
  }

  /** Stops listening to the database, for good: waits continue by polling. */
  async close(): Promise<void> {
    await Promise.all([this.#done.close(), this.#queued.close(), this.#canceled.close()]);
    this.#deliverGap();
  }

  #listen<Listener>(
    listeners: Set<Listener>,
    listener: Listener,
    channel: ChannelConnection | null,
  ): () => void {
    listeners.add(listener);
    this.#shared.join();
    channel?.addUser();
    return () => {
      if (!listeners.delete(listener)) return;
      channel?.removeUser();
      this.#leaveIfUnused();
    };
  }

  #deliverDone(ids: readonly string[]): void {
    for (const id of ids) for (const onDone of [...(this.#waiters.get(id) ?? [])]) onDone();
  }

  #deliverGap(): void {
    for (const listener of this.#gapListeners) listener();
  }

  #deliverQueued(queues: readonly string[] | null, error?: unknown): void {
    for (const listener of [...this.#queuedListeners]) listener(queues, error);
  }

  #deliverCanceled(ids: readonly string[] | null): void {
    for (const listener of [...this.#cancelListeners]) listener(ids);
  }

  #leaveIfUnused(): void {
    const listeners = this.#queuedListeners.size + this.#cancelListeners.size;
    if (this.#waiters.size + listeners === 0) this.#shared.leave();
  }
}
