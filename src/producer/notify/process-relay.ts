/** Shares notifications between all clients of one database in this process, also across copies of this module. */

import { sharedSets } from "../../core/shared-sets.ts";

/** What one client does when another client of its database reports something. */
export interface NotificationReceiver {
  done(ids: readonly string[]): void;
  queued(queues: readonly string[] | null): void;
  canceled(ids: readonly string[] | null): void;
}

const RECEIVERS = Symbol.for("wadi.receivers.1");

/** Reports to the other clients of one database in this process, those of other copies of this module included. */
export class ProcessRelay {
  readonly #database: string | object | undefined;
  readonly #receiver: NotificationReceiver;

  constructor(database: string | object | undefined, receiver: NotificationReceiver) {
    this.#database = database;
    this.#receiver = receiver;
  }

  /** Receives from now on. */
  join(): void {
    this.#sets?.set(this.#database!, this.#receivers.add(this.#receiver));
  }

  /** Receives nothing any more; nothing refers to it. */
  leave(): void {
    const receivers = this.#receivers;
    if (receivers.delete(this.#receiver) && receivers.size === 0) this.#sets?.delete(this.#database!);
  }

  get #sets() {
    const database = this.#database;
    return database === undefined ? undefined : sharedSets<NotificationReceiver>(RECEIVERS, database);
  }

  get #receivers(): Set<NotificationReceiver> {
    return this.#sets?.get(this.#database!) ?? new Set();
  }

  /** Calls `report` with each of the other receivers. */
  send(report: (receiver: NotificationReceiver) => void): void {
    for (const receiver of [...this.#receivers]) {
      if (receiver === this.#receiver) continue;
      try {
        report(receiver);
      } catch {
        // The receiver belongs to another copy of the module. A notification only shortens a wait.
      }
    }
  }
}
