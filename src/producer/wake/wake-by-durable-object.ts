import { InvalidArgument } from "../../core/errors/errors.ts";
import { show } from "../../core/validate.ts";
import type { DelayingWake } from "./wake.ts";
import { type BindingWakeOptions, type FetcherLike, wakeByBinding } from "./wake-by-request.ts";

/** The alarm of a Durable Object, as its storage has it. */
export interface AlarmStorageLike {
  getAlarm(): Promise<number | null>;
  setAlarm(atMs: number): Promise<void>;
}

/**
 * Kicks a Durable Object that drains: from outside through its stub, whose `fetch` is given to `createHandler`; within
 * the object through its storage, by its alarm, which can delay. An alarm that is set for an earlier time stays.
 *
 * @param secret For a stub, as for `wakeByBinding`.
 * @throws {InvalidArgument} if it is neither a stub nor a storage.
 * @example
 * ```ts
 * import { type AlarmStorageLike, Wadi, wakeByDurableObject } from "wadi";
 *
 * const withinObject = (storage: AlarmStorageLike) => new Wadi(executor, { wake: wakeByDurableObject(storage) });
 * ```
 */
export function wakeByDurableObject(
  object: FetcherLike | AlarmStorageLike,
  secret?: string | readonly string[],
  options?: BindingWakeOptions,
): DelayingWake {
  if (typeof (object as AlarmStorageLike)?.setAlarm === "function") {
    return alarmWake(object as AlarmStorageLike);
  }
  if (typeof (object as FetcherLike)?.fetch !== "function") {
    throw new InvalidArgument(
      `wakeByDurableObject takes the stub of an object, or its storage within it, got ${show(object)}`,
    );
  }
  return wakeByBinding(object as FetcherLike, secret, options);
}

function alarmWake(storage: AlarmStorageLike): DelayingWake {
  const kick: DelayingWake["kick"] = async ({ atMs = Date.now() }) => {
    const setForMs = await storage.getAlarm();
    if (setForMs === null || setForMs > atMs) await storage.setAlarm(atMs);
  };
  return { kick, canDelay: true };
}
