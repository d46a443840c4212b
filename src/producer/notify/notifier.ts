import type { Executor } from "../../core/executor.ts";
import { Channel, type WakeSource } from "./channel.ts";
import { SharedNotifier } from "./shared-notifier.ts";

/**
 * Called with the queues that got tasks; null if that is not known, since a connection was opened or lost, and then `error`
 * says why it was. Must not throw.
 */
export type QueuedListener = (queues: readonly string[] | null, error?: unknown) => void;

/** Called with the running tasks that were asked to stop; null if it is not known which. Must not throw. */
export type CancelListener = (ids: readonly string[] | null) => void;

/**
 * Reports at once what would otherwise be found by polling: that a task is done, and that a queue has work. It knows of
 * what this Wadi did, and of what others did where the database can be listened to. It only shortens a wait: every
 * waiter polls too.
 */
export class Notifier {
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #queuedListeners = new Set<QueuedListener>();
  /** Those for whom no connection is opened. */
  readonly #briefListeners = new Set<QueuedListener>();
  readonly #gapListeners = new Set<() => void>();
  readonly #cancelListeners = new Set<CancelListener>();
  /** Those for whom no connection is opened. */
  readonly #briefCancelListeners = new Set<CancelListener>();
  readonly #done: Channel;
  readonly #queued: Channel;
  readonly #canceled: Channel;
  readonly #shared: SharedNotifier;

  /** @param database What identifies the database within the process; see `Executor`. */
  constructor(executor: Executor, database: string | object | undefined = executor.database) {
    this.#shared = new SharedNotifier(database, {
      done: (ids) => this.#deliverDone(ids),
      queued: (queues) => this.#deliverQueued(queues),
      canceled: (ids) => this.#deliverCanceled(ids),
    });
    this.#done = new Channel(executor, "cairnq_done", this.#waiting, (id) => {
      if (id !== null) this.#deliverDone([id]);
      else for (const listener of this.#gapListeners) listener();
    });
    this.#queued = new Channel(executor, "cairnq_queued", this.#queuedListeners, (queue, error) =>
      this.#deliverQueued(queue === null ? null : [queue], error),
    );
    this.#canceled = new Channel(executor, "wadi_canceled", this.#cancelListeners, (id) =>
      this.#deliverCanceled(id === null ? null : [id]),
    );
  }

  get wakeSource(): WakeSource {
    const states = [this.#done.state, this.#queued.state];
    return (
      states.find((state) => state === "polling") ?? states.find((state) => state !== "local") ?? "local"
    );
  }

  /** Where signals of ended tasks come from at present. */
  get doneState(): WakeSource {
    return this.#done.state;
  }

  /** Wakes the waits of this process for these tasks. Call it once they are terminal in the database. */
  done(ids: readonly string[]): void {
    this.#deliverDone(ids);
    this.#shared.done(ids);
  }

  /** Wakes the idle workers: call it in this process once the database has the tasks, also those that are due later. */
  queued(queues: readonly string[] | null): void {
    this.#deliverQueued(queues);
    this.#shared.queued(queues);
  }

  /** Reports running tasks that were asked to stop to the workers that this process has. Call it once the database has it. */
  canceled(ids: readonly string[] | null): void {
    this.#deliverCanceled(ids);
    this.#shared.canceled(ids);
  }

  /**
   * Calls `onDone` when the task became terminal, until the returned function is called. Does not wait for the
   * connection: a pool may have none to give.
   */
  subscribe(id: string, onDone: () => void): () => void {
    const waiters = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, waiters.add(onDone));
    this.#shared.join();
    this.#done.open();
    return () => {
      waiters.delete(onDone);
      if (waiters.size === 0 && this.#waiting.get(id) === waiters) this.#waiting.delete(id);
      this.#done.rest();
      this.#leaveIfUnused();
    };
  }

  /** Whether this process waits for the end of the task; without an id, of any task. */
  awaits(id?: string): boolean {
    return id === undefined ? this.#waiting.size > 0 : this.#waiting.has(id);
  }

  /** Calls `listener` when ends may have been missed, and when `doneState` changed. */
  onGap(listener: () => void): void {
    this.#gapListeners.add(listener);
  }

  /** Calls `listener` when queues got due tasks, until the returned function is called. */
  onQueued(listener: QueuedListener): () => void {
    this.#queuedListeners.add(listener);
    this.#shared.join();
    this.#queued.open();
    return () => {
      this.#queuedListeners.delete(listener);
      this.#queued.rest();
      this.#leaveIfUnused();
    };
  }

  /** `onQueued` for a listener that stays for a moment only: it opens no connection, and hears one that is open. */
  whileQueued(listener: QueuedListener): () => void {
    this.#briefListeners.add(listener);
    this.#shared.join();
    return () => {
      this.#briefListeners.delete(listener);
      this.#leaveIfUnused();
    };
  }

  /** Calls `listener` when running tasks were asked to stop, until the returned function is called. */
  onCanceled(listener: CancelListener): () => void {
    this.#cancelListeners.add(listener);
    this.#shared.join();
    this.#canceled.open();
    return () => {
      this.#cancelListeners.delete(listener);
      this.#canceled.rest();
      this.#leaveIfUnused();
    };
  }

  /** `onCanceled` for a listener that stays for a moment only: it opens no connection, and hears one that is open. */
  whileCanceled(listener: CancelListener): () => void {
    this.#briefCancelListeners.add(listener);
    this.#shared.join();
    return () => {
      this.#briefCancelListeners.delete(listener);
      this.#leaveIfUnused();
    };
  }

  /** Whether the database announces due tasks at present. */
  get announcesQueued(): boolean {
    return this.#queued.state === "listening";
  }

  /** Stops to listen, for good: waits go on by polling alone. */
  async close(): Promise<void> {
    await Promise.all([this.#done.close(), this.#queued.close(), this.#canceled.close()]);
    for (const listener of this.#gapListeners) listener();
  }

  #deliverDone(ids: readonly string[]): void {
    for (const id of ids) for (const onDone of [...(this.#waiting.get(id) ?? [])]) onDone();
  }

  #deliverQueued(queues: readonly string[] | null, error?: unknown): void {
    for (const listener of [...this.#queuedListeners, ...this.#briefListeners]) listener(queues, error);
  }

  #deliverCanceled(ids: readonly string[] | null): void {
    for (const listener of [...this.#cancelListeners, ...this.#briefCancelListeners]) listener(ids);
  }

  #leaveIfUnused(): void {
    const cancels = this.#cancelListeners.size + this.#briefCancelListeners.size;
    const users = this.#waiting.size + this.#queuedListeners.size + this.#briefListeners.size + cancels;
    if (users === 0) this.#shared.leave();
  }
}
