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
  readonly #passiveQueuedListeners = new Set<QueuedListener>();
  readonly #cancelListeners = new Set<CancelListener>();
  readonly #passiveCancelListeners = new Set<CancelListener>();
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
    this.#done = new ChannelConnection(executor, {
      name: "cairnq_done",
      users: this.#waiters,
      onNotification: (id) => (id === null ? this.#deliverGap() : this.#deliverDone([id])),
    });
    this.#queued = new ChannelConnection(executor, {
      name: "cairnq_queued",
      users: this.#queuedListeners,
      onNotification: (queue, error) => this.#deliverQueued(queue === null ? null : [queue], error),
    });
    this.#canceled = new ChannelConnection(executor, {
      name: "wadi_canceled",
      users: this.#cancelListeners,
      onNotification: (id) => this.#deliverCanceled(id === null ? null : [id]),
    });
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
    this.#shared.done(ids);
  }

  /** Wakes the idle workers of this process. Call it once the database has the tasks, also if they are due later. */
  queued(queues: readonly string[] | null): void {
    this.#deliverQueued(queues);
    this.#shared.queued(queues);
  }

  /** Reports cancel requests to the workers of this process. Call it once the database has them. */
  canceled(ids: readonly string[] | null): void {
    this.#deliverCanceled(ids);
    this.#shared.canceled(ids);
  }

  /**
   * Calls `onDone` when the task has become terminal, until the returned function is called. Does not wait for the
   * connection: a pool may have none free.
   */
  subscribe(id: string, onDone: () => void): () => void {
    const waiters = this.#waiters.get(id) ?? new Set();
    this.#waiters.set(id, waiters.add(onDone));
    this.#shared.join();
    this.#done.open();
    return () => {
      waiters.delete(onDone);
      if (waiters.size === 0 && this.#waiters.get(id) === waiters) this.#waiters.delete(id);
      this.#done.closeWhenUnused();
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

  /** Calls `listener` when queues got tasks, until the returned function is called. Keeps a connection open. */
  onQueued(listener: QueuedListener): () => void {
    return this.#listen(this.#queuedListeners, listener, this.#queued);
  }

  /** `onQueued` for a short time: uses a connection that is open, and opens none. */
  onQueuedPassive(listener: QueuedListener): () => void {
    return this.#listen(this.#passiveQueuedListeners, listener);
  }

  /**
   * Calls `listener` when running tasks were asked to stop, until the returned function is called. Keeps a connection
   * open.
   */
  onCanceled(listener: CancelListener): () => void {
    return this.#listen(this.#cancelListeners, listener, this.#canceled);
  }

  /** `onCanceled` for a short time: uses a connection that is open, and opens none. */
  onCanceledPassive(listener: CancelListener): () => void {
    return this.#listen(this.#passiveCancelListeners, listener);
  }

  /** Stops listening to the database, for good: waits continue by polling. */
  async close(): Promise<void> {
    await Promise.all([this.#done.close(), this.#queued.close(), this.#canceled.close()]);
    this.#deliverGap();
  }

  #listen<Listener>(listeners: Set<Listener>, listener: Listener, channel?: ChannelConnection): () => void {
    listeners.add(listener);
    this.#shared.join();
    channel?.open();
    return () => {
      listeners.delete(listener);
      channel?.closeWhenUnused();
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
    for (const listener of [...this.#queuedListeners, ...this.#passiveQueuedListeners])
      listener(queues, error);
  }

  #deliverCanceled(ids: readonly string[] | null): void {
    for (const listener of [...this.#cancelListeners, ...this.#passiveCancelListeners]) listener(ids);
  }

  #leaveIfUnused(): void {
    const users = [
      this.#waiters,
      this.#queuedListeners,
      this.#passiveQueuedListeners,
      this.#cancelListeners,
      this.#passiveCancelListeners,
    ];
    if (users.every(({ size }) => size === 0)) this.#shared.leave();
  }
}
