// Checks that a listening connection receives notifications, by sending it one over another connection.

/** The part of a listening connection that a check needs. */
interface CheckedConnection {
  /** A channel that nothing else uses. */
  readonly probe: string;
  listen(channels: readonly string[]): Promise<unknown>;
  /** Gets any answer from the server. */
  ping(): Promise<unknown>;
  add(subscription: ProbeSubscription): void;
  remove(subscription: ProbeSubscription): unknown;
}

interface ProbeSubscription {
  readonly channels: readonly string[];
  readonly onSignal: () => void;
  readonly onClose: () => void;
}

/** Sends a notification over another connection. */
export type Notify = (channel: string, payload: string, signal?: AbortSignal) => Promise<unknown>;

/** Longest time that a notification takes on a busy machine, once it was sent. */
const RECEIVE_MS = 2000;
/** The same for a query on the connection itself, and for sending the notification. */
const ANSWER_MS = 4000;

/**
 * Verifies a new connection. A pooler in transaction mode accepts LISTEN and delivers nothing: an error now is better
 * than a wait for notifications that never come.
 */
export async function verifyReceives(connection: CheckedConnection, notify: Notify): Promise<void> {
  await connection.listen([connection.probe]);
  if (await receives(connection, notify)) return;
  throw new Error(
    "LISTEN was accepted, but no notification arrived; a pooler in transaction mode delivers none: " +
      "pass `listen: false`",
  );
}

/**
 * Whether the connection still receives notifications. If none can be sent, because the pool is exhausted or the
 * database is away, an answer on the connection itself is enough.
 */
export async function stillReceives(
  connection: CheckedConnection,
  notify: Notify | undefined,
): Promise<boolean> {
  if (notify !== undefined) {
    try {
      return await receives(connection, notify);
    } catch {
      // The check itself failed, which says nothing about the connection.
    }
  }
  const answer = connection.ping().then(
    () => true,
    () => false,
  );
  return within(ANSWER_MS, answer);
}

/** Whether a notification on the connection's probe channel arrives. @throws if it cannot be sent. */
async function receives(connection: CheckedConnection, notify: Notify): Promise<boolean> {
  let settle = (_isReceived: boolean) => {};
  const received = new Promise<boolean>((resolve) => {
    settle = resolve;
  });
  // Any notification will do: nothing else uses the channel.
  const subscription = {
    channels: [connection.probe],
    onSignal: () => settle(true),
    onClose: () => settle(false),
  };
  connection.add(subscription);
  const sending = new AbortController();
  const timer = setTimeout(() => sending.abort(new Error("no answer came in time")), ANSWER_MS);
  try {
    await notify(connection.probe, "", sending.signal);
    return await within(RECEIVE_MS, received);
  } finally {
    clearTimeout(timer);
    connection.remove(subscription);
  }
}

/** The value of `answer`, or false if it takes longer than `ms`. */
async function within(ms: number, answer: Promise<boolean>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
