// LISTEN over node-pg: one connection for all subscribers of a pool, and each executor's share of it.

import type { ListenClient } from "./pg-connections.ts";
import type { Notify } from "./pg-delivery-check.ts";
import { ListenConnection, type Subscription } from "./pg-listen-connection.ts";

/** Calls `onSignal` for notifications on `channels` until the returned function is called, or `onClose` once. */
export type Listen = (
  channels: readonly string[],
  onSignal: Subscription["onSignal"],
  onClose: Subscription["onClose"],
) => Promise<() => void>;

/** LISTEN for any number of subscribers over one connection, which is held while there is a subscriber. */
export class PgListener {
  readonly #take: () => Promise<ListenClient>;
  readonly #notify: Notify | undefined;
  // One for all connections: a pooler in transaction mode leaves a LISTEN on the server of each connection that failed.
  readonly #probe = `wadi_probe_${crypto.randomUUID()}`;
  #connection: Promise<ListenConnection> | undefined;

  /** @param notify Sends a test notification; without it, a connection is trusted to receive them. */
  constructor(take: () => Promise<ListenClient>, notify: Notify | undefined) {
    this.#take = take;
    this.#notify = notify;
  }

  readonly listen: Listen = async (channels, onSignal, onClose) => {
    const subscription = { channels: [...channels], onSignal, onClose };
    const connection = await this.#attach(subscription);
    try {
      // Also for channels of another subscription: after the answer, this one misses no notification.
      await connection.listen(channels);
    } catch (error) {
      this.#detach(connection, subscription);
      throw error;
    }
    return () => this.#detach(connection, subscription);
  };

  async #connect(): Promise<ListenConnection> {
    const connection = new ListenConnection(await this.#take(), {
      notify: this.#notify,
      probe: this.#probe,
      onEnd: () => {
        this.#connection = undefined;
      },
    });
    await connection.start();
    return connection;
  }

  async #attach(subscription: Subscription): Promise<ListenConnection> {
    this.#connection ??= this.#connect();
    const connecting = this.#connection;
    try {
      const connection = await connecting;
      if (this.#connection !== connecting) return this.#attach(subscription); // it has ended in the meantime
      connection.add(subscription);
      return connection;
    } catch (error) {
      if (this.#connection === connecting) this.#connection = undefined;
      throw error;
    }
  }

  #detach(connection: ListenConnection, subscription: Subscription): void {
    if (!connection.remove(subscription)) return;
    const others = connection.subscriptions;
    const unused = subscription.channels.filter(
      (name) => !others.some(({ channels }) => channels.includes(name)),
    );
    if (others.length === 0 && this.#notify !== undefined) unused.push(this.#probe);
    const sent = unused.length === 0 ? Promise.resolve() : connection.unlisten(unused);
    sent.then(
      () => {
        if (connection.subscriptions.length === 0) connection.end(false);
      },
      (error) => connection.end(true, error),
    );
  }
}

/** One executor's share of a listener that other executors use too. */
export class ListenerShare {
  readonly #listener: PgListener;
  readonly #stops = new Set<() => void>();
  #closes = 0;

  constructor(listener: PgListener) {
    this.#listener = listener;
  }

  readonly listen: Listen = async (...subscription) => {
    const closesBefore = this.#closes;
    const stopListening = await this.#listener.listen(...subscription);
    const stop = () => {
      this.#stops.delete(stop);
      stopListening();
    };
    this.#stops.add(stop);
    if (this.#closes > closesBefore) stop();
    return stop;
  };

  /** Ends the subscriptions of this executor, without a call of `onClose`. */
  close(): void {
    this.#closes++;
    for (const stop of this.#stops) stop();
  }
}
