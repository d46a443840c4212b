import { InvalidArgument } from "../../core/errors/errors.ts";
import { show } from "../../core/validate.ts";
import type { DelayingWake, Kick } from "./wake.ts";

/** The producer's side of a queue of Cloudflare. */
export interface KickQueueLike {
  send(message: Kick, options?: { readonly delaySeconds?: number }): Promise<unknown>;
}

/** Cloudflare delays a message for 12 hours at most; the drain that it starts too early asks again. */
const MAX_DELAY_S = 12 * 60 * 60;

/**
 * Kicks by a message in a queue of Cloudflare, whose consumer drains. It can delay, so that delayed tasks and retries
 * start on time too. The message is the `Kick`; pass its `hop` to the drain.
 *
 * @throws {InvalidArgument} if `queue` has no `send`.
 * @example
 * ```ts
 * import { type KickQueueLike, Wadi, wakeByQueue } from "wadi";
 *
 * const producer = (queue: KickQueueLike) => new Wadi(executor, { wake: wakeByQueue(queue) });
 * ```
 */
export function wakeByQueue(queue: KickQueueLike): DelayingWake {
  if (typeof queue?.send !== "function") {
    throw new InvalidArgument(`wakeByQueue takes a queue with send, got ${show(queue)}`);
  }
  const kick = async (kick: Kick): Promise<void> => {
    if (kick.atMs === undefined) await queue.send(kick);
    else {
      const delayS = Math.ceil((kick.atMs - Date.now()) / 1000);
      await queue.send(kick, { delaySeconds: Math.min(Math.max(delayS, 0), MAX_DELAY_S) });
    }
  };
  return { kick, canDelay: true };
}
