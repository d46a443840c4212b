export type OnSignal = (channel: string, payload: string) => void;

export interface Subscription {
  readonly channels: readonly string[];
  readonly onSignal: OnSignal;
  readonly onClose: (error?: unknown) => void;
}

export interface Link {
  /** A channel that nobody else knows, to hear itself on. */
  readonly probe: string;
  command(text: string): Promise<unknown>;
  readonly subscriptions: Set<Subscription>;
  /** Lets go of the client; the subscriptions are told if it was lost. */
  end(lost: boolean, error?: unknown): void;
}

/** Sends a notification over another connection. */
export type Notify = (channel: string, payload: string, signal?: AbortSignal) => Promise<unknown>;

/** How long a notification to oneself may take on a busy machine, once it was sent. */
const HEAR_MS = 2000;
/** The same of a query on the connection itself, and of sending the notification. */
const ANSWER_MS = 4000;

/**
 * Proves that a new connection hears what others send. A pooler in transaction mode takes LISTEN and delivers nothing:
 * better to know than to wait for what never comes.
 */
export async function hearFirst(link: Link, notify: Notify): Promise<void> {
  await link.command(commands("listen", [link.probe]));
  if (await hears(link, notify)) return;
  throw new Error(
    "LISTEN was taken and no notification came; a pooler in transaction mode delivers none: pass `listen: false`",
  );
}

/**
 * Whether the connection still hears what others send. Where nothing can be sent, because the pool is exhausted or the
 * database is away, an answer on the connection itself has to do.
 */
export async function stillHears(link: Link, notify: Notify | undefined): Promise<boolean> {
  if (notify !== undefined) {
    try {
      return await hears(link, notify);
    } catch {
      // Nothing was proved.
    }
  }
  return within(
    ANSWER_MS,
    link.command("select 1").then(
      () => true,
      () => false,
    ),
  );
}

/** Whether a notification of its own channel arrives. @throws if it cannot be sent. */
async function hears(link: Link, notify: Notify): Promise<boolean> {
  let hear = (_isHeard: boolean) => {};
  const heard = new Promise<boolean>((resolve) => {
    hear = resolve;
  });
  // Any will do: it is the channel of this connection alone.
  const probe: Subscription = {
    channels: [link.probe],
    onSignal: () => hear(true),
    onClose: () => hear(false),
  };
  link.subscriptions.add(probe);
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(new Error("no answer came in time")), ANSWER_MS);
  try {
    await notify(link.probe, "", patience.signal);
    return await within(HEAR_MS, heard);
  } finally {
    clearTimeout(timer);
    link.subscriptions.delete(probe);
  }
}

/** What `answer` says; false if it says nothing in time. */
async function within(ms: number, answer: Promise<boolean>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

/** One for each channel. */
export function commands(verb: "listen" | "unlisten", channels: readonly string[]): string {
  return channels.map((name) => `${verb} "${name.replaceAll('"', '""')}"`).join("; ");
}
