import type { inTurn } from "./in-turn.ts";
import type { PgClientLike, PgNotification } from "./pg.ts";

type OnSignal = (channel: string, payload: string) => void;

interface Subscription {
  readonly channels: readonly string[];
  readonly onSignal: OnSignal;
  readonly onClose: (error?: unknown) => void;
}

/** A client that listens, and how to give it back. */
export interface ListenClient {
  readonly client: PgClientLike;
  /** Commands go one at a time, where the client is shared also with others. */
  readonly turn: ReturnType<typeof inTurn>;
  release(broken: boolean): void;
}

interface Link {
  command(text: string): Promise<unknown>;
  readonly subscriptions: Set<Subscription>;
  /** Lets go of the client; the subscriptions are told if it was lost. */
  end(lost: boolean, error?: unknown): void;
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

/** A channel to hear oneself on, and how long that may take on a busy machine, in milliseconds. */
const PROBE = "wadi_probe";
const PROBE_MS = 2000;

/** Sends a notification over another connection. */
type Notify = (channel: string, payload: string) => Promise<unknown>;

/** Without `notify` it is taken on trust that notifications arrive. */
export function pgListener(open: () => Promise<ListenClient>, notify?: Notify): Listen {
  let link: Promise<Link> | undefined;

  async function connect(): Promise<Link> {
    const { client, turn, release } = await open();
    const subscriptions = new Set<Subscription>();
    let ended = false;
    const onNotification = ({ channel, payload }: PgNotification) => {
      for (const subscription of [...subscriptions]) {
        if (subscription.channels.includes(channel)) subscription.onSignal(channel, payload ?? "");
      }
    };
    const onLost = (error?: unknown) => opened.end(true, error);
    const opened: Link = {
      command: (text) =>
        turn(async () => {
          if (ended) throw new Error("the connection was let go while a listener joined it");
          return client.query(text);
        }),
      subscriptions,
      end(lost, error) {
        if (ended) return;
        ended = true;
        link = undefined;
        client.removeListener("notification", onNotification);
        client.removeListener("end", onLost);
        release(lost);
        client.removeListener("error", onLost); // only now: the pool listens again from release on
        const told = [...subscriptions];
        subscriptions.clear();
        if (lost) for (const subscription of told) subscription.onClose(error);
      },
    };
    client.on("notification", onNotification);
    client.on("error", onLost);
    client.on("end", onLost);
    if (notify !== undefined) await hearOneself(opened, notify);
    return opened;
  }

  /** A pooler in transaction mode takes LISTEN and delivers nothing: better to know than to wait for what never comes. */
  async function hearOneself(opened: Link, notify: Notify): Promise<void> {
    const payload = crypto.randomUUID();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let probe: Subscription | undefined;
    try {
      await opened.command(commands("listen", [PROBE]));
      await new Promise<void>((resolve, reject) => {
        const onSignal: OnSignal = (_channel, told) => told === payload && resolve();
        probe = { channels: [PROBE], onSignal, onClose: reject };
        opened.subscriptions.add(probe);
        const silent =
          "LISTEN was taken and no notification came; a pooler in transaction mode delivers none";
        timer = setTimeout(() => reject(new Error(`${silent}: pass \`listen: false\``)), PROBE_MS);
        notify(PROBE, payload).catch(reject);
      });
      await opened.command(commands("unlisten", [PROBE]));
    } catch (error) {
      opened.end(true, error);
      throw error;
    } finally {
      clearTimeout(timer);
      opened.subscriptions.delete(probe!);
    }
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

function commands(verb: "listen" | "unlisten", channels: readonly string[]): string {
  return channels.map((name) => `${verb} "${name.replaceAll('"', '""')}"`).join("; ");
}
