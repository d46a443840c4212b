import type { inTurn } from "../shared/serial-queue.ts";
import type { PgClientLike, PgNotification } from "./pg-client.ts";
import {
  commands,
  hearFirst,
  type Link,
  type Notify,
  type OnSignal,
  type Subscription,
  stillHears,
} from "./pg-delivery-check.ts";

/** A client that listens, and how to give it back. */
export interface ListenClient {
  readonly client: PgClientLike;
  /** Commands go one at a time, where the client is shared also with others. */
  readonly turn: ReturnType<typeof inTurn>;
  release(broken: boolean): void;
  /** Whether its owner waits for its release. */
  isEnding(): boolean;
}

/** LISTEN for any number of subscribers over one connection, held while there is one. */
export type Listen = (
  channels: readonly string[],
  onSignal: OnSignal,
  onClose: (error?: unknown) => void,
) => Promise<() => void>;

/** One user's part of a `Listen` that is shared with others. */
export function shareOf(listen: Listen): { listen: Listen; close(): void } {
  const stops = new Set<() => void>();
  let closes = 0;
  return {
    async listen(...subscription) {
      const before = closes;
      const stop = await listen(...subscription);
      const stopMine = () => {
        stops.delete(stopMine);
        stop();
      };
      stops.add(stopMine);
      if (closes > before) stopMine();
      return stopMine;
    },
    close() {
      closes++;
      for (const stop of stops) stop();
    },
  };
}

/** How often a connection that listens proves that it hears, unless it heard something meanwhile. */
const PROOF_MS = 30_000;

/** Without `notify` it is taken on trust that notifications arrive. */
export function pgListener(open: () => Promise<ListenClient>, notify?: Notify): Listen {
  // One for all connections: behind a pooler in transaction mode it stays on the servers of those that were refused.
  const probe = `wadi_probe_${crypto.randomUUID()}`;
  let link: Promise<Link> | undefined;

  async function connect(): Promise<Link> {
    const { client, turn, release, isEnding } = await open();
    const subscriptions = new Set<Subscription>();
    let ended = false;
    let hasHeard = false;
    const onNotification = ({ channel, payload }: PgNotification) => {
      hasHeard = true;
      for (const subscription of [...subscriptions]) {
        if (subscription.channels.includes(channel)) subscription.onSignal(channel, payload ?? "");
      }
    };
    const onLost = (error?: unknown) => opened.end(true, error);
    const opened: Link = {
      probe,
      command: (text) =>
        turn(async () => {
          if (ended) throw new Error("the connection was let go while a listener joined it");
          return client.query(text);
        }),
      subscriptions,
      end(lost, error) {
        if (ended) return;
        ended = true;
        clearInterval(proving);
        link = undefined;
        client.removeListener("notification", onNotification);
        client.removeListener("end", onLost);
        client.ref?.();
        release(lost);
        client.removeListener("error", onLost); // only now: the pool listens again from release on
        const told = [...subscriptions];
        subscriptions.clear();
        if (lost) for (const subscription of told) subscription.onClose(error);
      },
    };
    async function prove(): Promise<void> {
      if (isEnding()) return opened.end(true, new Error("the pool is being ended"));
      if (!hasHeard && !(await stillHears(opened, notify))) {
        opened.end(true, new Error("the connection that listened did not hear itself any more"));
      }
      hasHeard = false;
    }
    const proving = setInterval(prove, PROOF_MS);
    (proving as { unref?(): void }).unref?.();
    client.on("notification", onNotification);
    client.on("error", onLost);
    client.on("end", onLost);
    try {
      if (notify !== undefined) await hearFirst(opened, notify);
    } catch (error) {
      opened.end(true, error);
      throw error;
    }
    if (notify !== undefined) client.unref?.(); // to listen is no reason for a process to go on
    return opened;
  }

  async function attach(subscription: Subscription): Promise<Link> {
    link ??= connect();
    const mine = link;
    try {
      const opened = await mine;
      if (link !== mine) return attach(subscription); // the last subscriber left in the meantime
      opened.subscriptions.add(subscription);
      return opened;
    } catch (error) {
      if (link === mine) link = undefined;
      throw error;
    }
  }

  function detach(opened: Link, subscription: Subscription): void {
    if (!opened.subscriptions.delete(subscription)) return;
    const rest = [...opened.subscriptions];
    const unused = subscription.channels.filter(
      (name) => !rest.some((other) => other.channels.includes(name)),
    );
    if (rest.length === 0 && notify !== undefined) unused.push(opened.probe);
    const sent = unused.length === 0 ? Promise.resolve() : opened.command(commands("unlisten", unused));
    sent.then(
      () => {
        if (opened.subscriptions.size === 0) opened.end(false);
      },
      (error) => opened.end(true, error),
    );
  }

  return async (channels, onSignal, onClose) => {
    const subscription = { channels: [...channels], onSignal, onClose };
    const opened = await attach(subscription);
    try {
      // Also for channels another subscriber has: the answer means that this one misses nothing from now on.
      await opened.command(commands("listen", channels));
    } catch (error) {
      detach(opened, subscription);
      throw error;
    }
    return () => detach(opened, subscription);
  };
}
