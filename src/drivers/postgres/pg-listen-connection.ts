// One connection to Postgres that listens: it delivers notifications, and checks that they still arrive.

import type { PgNotification } from "./pg-client.ts";
import type { ListenClient } from "./pg-connections.ts";
import { type Notify, stillReceives, verifyReceives } from "./pg-delivery-check.ts";

export interface Subscription {
  readonly channels: readonly string[];
  readonly onSignal: (channel: string, payload: string) => void;
  readonly onClose: (error?: unknown) => void;
}

/** How often a connection is checked, unless it received a notification in the meantime. */
const CHECK_MS = 30_000;

export interface ListenConnectionOptions {
  /** Sends a notification over another connection; without it the connection is not checked. */
  readonly notify: Notify | undefined;
  /** The channel of the checks, which nothing else uses. */
  readonly probe: string;
  /** Called once, as soon as the connection is of no use. */
  readonly onEnd: () => void;
}

/**
 * One connection that listens. It delivers notifications to subscriptions, checks now and then that notifications still
 * arrive, and ends, with its subscriptions closed, when the connection is lost.
 */
export class ListenConnection {
  readonly probe: string;
  readonly #borrowed: ListenClient;
  readonly #notify: Notify | undefined;
  readonly #onEnd: () => void;
  readonly #subscriptions = new Set<Subscription>();
  readonly #checks: ReturnType<typeof setInterval>;
  #isEnded = false;
  #hasReceived = false;

  constructor(borrowed: ListenClient, { notify, probe, onEnd }: ListenConnectionOptions) {
    this.#borrowed = borrowed;
    this.#notify = notify;
    this.probe = probe;
    this.#onEnd = onEnd;
    this.#checks = setInterval(() => this.#check(), CHECK_MS);
    (this.#checks as { unref?(): void }).unref?.();
    const { client } = borrowed;
    client.on("notification", this.#onNotification);
    client.on("error", this.#onLost);
    client.on("end", this.#onLost);
  }

  get subscriptions(): readonly Subscription[] {
    return [...this.#subscriptions];
  }

  /** Checks the connection for the first time. @throws if no notification arrives. */
  async start(): Promise<void> {
    if (this.#notify === undefined) return;
    try {
      await verifyReceives(this, this.#notify);
    } catch (error) {
      this.end(true, error);
      throw error;
    }
    this.#borrowed.client.unref?.(); // listening alone does not keep a process alive
  }

  listen(channels: readonly string[]): Promise<unknown> {
    return this.#query(commands("listen", channels));
  }

  unlisten(channels: readonly string[]): Promise<unknown> {
    return this.#query(commands("unlisten", channels));
  }

  ping(): Promise<unknown> {
    return this.#query("select 1");
  }

  add(subscription: Subscription): void {
    this.#subscriptions.add(subscription);
  }

  /** Whether the subscription was still there. */
  remove(subscription: Subscription): boolean {
    return this.#subscriptions.delete(subscription);
  }

  /** Releases the client. If the connection was lost, its subscriptions are notified. */
  end(isLost: boolean, error?: unknown): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearInterval(this.#checks);
    this.#onEnd();
    const { client, release } = this.#borrowed;
    client.removeListener("notification", this.#onNotification);
    client.removeListener("end", this.#onLost);
    client.ref?.();
    release(isLost);
    client.removeListener("error", this.#onLost); // only now: from release on the pool listens again
    const { subscriptions } = this;
    this.#subscriptions.clear();
    if (isLost) for (const subscription of subscriptions) subscription.onClose(error);
  }

  readonly #onNotification = ({ channel, payload }: PgNotification): void => {
    this.#hasReceived = true;
    for (const subscription of this.subscriptions) {
      if (subscription.channels.includes(channel)) subscription.onSignal(channel, payload ?? "");
    }
  };

  readonly #onLost = (error?: unknown): void => this.end(true, error);

  async #check(): Promise<void> {
    if (this.#borrowed.isEnding()) return this.end(true, new Error("the pool is being ended"));
    if (!this.#hasReceived && !(await stillReceives(this, this.#notify))) {
      this.end(true, new Error("the listening connection did not receive its test notification any more"));
    }
    this.#hasReceived = false;
  }

  #query(text: string): Promise<unknown> {
    return this.#borrowed.commands.run(async () => {
      if (this.#isEnded) throw new Error("the listening connection was released while a listener joined it");
      return this.#borrowed.client.query(text);
    });
  }
}

/** One command for each channel. */
function commands(verb: "listen" | "unlisten", channels: readonly string[]): string {
  return channels.map((name) => `${verb} "${name.replaceAll('"', '""')}"`).join("; ");
}
