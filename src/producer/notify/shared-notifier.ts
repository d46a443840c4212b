/** Shares notifications between all clients of one database in this process, also across copies of this module. */

/** What one client does when another client of its database reports something. */
export interface NotificationReceiver {
  done(ids: readonly string[]): void;
  queued(queues: readonly string[] | null): void;
  canceled(ids: readonly string[] | null): void;
}

type Receivers = Set<NotificationReceiver>;

/** The receivers of each database, by what identifies it in this process: a text, or the client object. */
interface Board {
  readonly texts: Map<string, Receivers>;
  readonly objects: WeakMap<object, Receivers>;
}

/** A bundler may load this module several times in a process. The number changes with the shape of `Board`. */
const BOARD = Symbol.for("wadi.receivers.1");

function board(): Board {
  const place = globalThis as { [BOARD]?: Board };
  place[BOARD] ??= { texts: new Map(), objects: new WeakMap() };
  return place[BOARD];
}

/** Reports to the other clients of one database in this process, those of other copies of this module included. */
export class SharedNotifier {
  readonly #database: string | object | undefined;
  readonly #receiver: NotificationReceiver;

  constructor(database: string | object | undefined, receiver: NotificationReceiver) {
    this.#database = database;
    this.#receiver = receiver;
  }

  /** Receives from now on. */
  join(): void {
    const database = this.#database;
    if (database === undefined) return;
    const receivers = this.#receivers ?? new Set();
    receivers.add(this.#receiver);
    if (typeof database === "string") board().texts.set(database, receivers);
    else board().objects.set(database, receivers);
  }

  /** Receives nothing any more; nothing refers to it. */
  leave(): void {
    const receivers = this.#receivers;
    if (!receivers?.delete(this.#receiver) || receivers.size > 0) return;
    if (typeof this.#database === "string") board().texts.delete(this.#database);
  }

  done(ids: readonly string[]): void {
    this.#send((receiver) => receiver.done(ids));
  }

  queued(queues: readonly string[] | null): void {
    this.#send((receiver) => receiver.queued(queues));
  }

  canceled(ids: readonly string[] | null): void {
    this.#send((receiver) => receiver.canceled(ids));
  }

  get #receivers(): Receivers | undefined {
    const database = this.#database;
    if (database === undefined) return undefined;
    return typeof database === "string" ? board().texts.get(database) : board().objects.get(database);
  }

  #send(report: (receiver: NotificationReceiver) => void): void {
    for (const receiver of [...(this.#receivers ?? [])]) {
      if (receiver === this.#receiver) continue;
      try {
        report(receiver);
      } catch {
        // The receiver belongs to another copy of the module. A notification only shortens a wait.
      }
    }
  }
}
