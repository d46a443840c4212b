// Push for SQLite: notices the commits of other connections to a file by reading its data version.

import type { Executor } from "../../core/executor.ts";

type Listen = NonNullable<Executor["listen"]>;

interface Subscription {
  readonly channels: readonly string[];
  readonly onSignal: (channel: string, payload: null) => void;
  readonly onClose: (error?: unknown) => void;
}

/** Pause between two reads, and the longer one after a minute without a change. */
const PAUSE_MS = 20;
const QUIET_PAUSE_MS = 50;
const QUIET_AFTER_MS = 60_000;
/** Longest pause while each read finds a change, because each notification may cost a poll. */
const BUSY_PAUSE_MS = 250;

/**
 * `listen` for a file that other connections write to: SQLite counts their commits in `pragma data_version`, which is
 * read on a short timer while there is a subscription. After any commit every channel is notified, without a payload.
 *
 * @param read The version of the data; undefined while it cannot be read, such as during a transaction.
 */
export function dataVersionListener(
  read: () => string | number | undefined | Promise<string | number | undefined>,
): Listen {
  const subscriptions = new Set<Subscription>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last: string | number | undefined;
  let pauseMs = PAUSE_MS;
  let changedAtMs = 0;

  function schedule(): void {
    clearTimeout(timer);
    timer = undefined;
    if (subscriptions.size === 0) return;
    const isQuiet = performance.now() - changedAtMs > QUIET_AFTER_MS;
    timer = setTimeout(tick, isQuiet ? QUIET_PAUSE_MS : pauseMs);
    (timer as { unref?(): void }).unref?.(); // the subscriber has timers that keep the process alive
  }

  async function tick(): Promise<void> {
    timer = undefined;
    try {
      const version = await read();
      if (version === undefined || version === last) {
        pauseMs = PAUSE_MS;
      } else {
        last = version;
        changedAtMs = performance.now();
        pauseMs = Math.min(pauseMs * 2, BUSY_PAUSE_MS);
        for (const { channels, onSignal } of [...subscriptions]) {
          for (const channel of channels) onSignal(channel, null);
        }
      }
    } catch (error) {
      const lost = [...subscriptions];
      subscriptions.clear();
      for (const { onClose } of lost) onClose(error);
    }
    if (timer === undefined) schedule();
  }

  return async (channels, onSignal, onClose) => {
    const subscription = { channels, onSignal, onClose };
    // Commits from now on are reported. If the version cannot be read now, the first one read counts as a change.
    if (subscriptions.size === 0) last = await read();
    changedAtMs = performance.now();
    subscriptions.add(subscription);
    if (timer === undefined) schedule();
    return () => {
      subscriptions.delete(subscription);
      if (subscriptions.size === 0) schedule();
    };
  };
}
