/** The types of wake-ups: a kick, and what an application or a platform does to start a drain. */

/** The request to start a drain. */
export interface Kick {
  /** Queues that have due tasks, or will have at `atMs`. A drain need not keep to them. */
  readonly queues: readonly string[];
  /** 0 for a kick by a submit; else how many drains in a row have kicked the next one without ending a task. */
  readonly hop: number;
  /** When to start the drain, in epoch milliseconds; absent: now. Only for a wake with `canDelay`. */
  readonly atMs?: number | undefined;
}

/** Starts a drain somewhere. A promise is followed until it settles, and its rejection is reported to `onError`. */
export type WakeFunction = (kick: Kick) => unknown;

/** A `WakeFunction` that may say that it can delay. */
export interface DelayingWake {
  /** Starts a drain, at `atMs` if that is given. */
  readonly kick: WakeFunction;
  /** Whether a kick may have `atMs`. @default false */
  readonly canDelay?: boolean | undefined;
}

/** How a `Wadi` starts a drain: one of the `wakeBy...` functions, or a function of the application. */
export type Wake = WakeFunction | DelayingWake;

/** What an answer has whose tasks the application commits. */
export interface Kickable {
  /**
   * Kicks a drain for these tasks, and writes the `hint`; call it after the commit. With a `wake` it sends one request
   * to the database, which says whether a drain is on its way already, and resolves once the kick is sent. Errors go to
   * `onError` of the `Wadi`. It does nothing if the `Wadi` has neither.
   */
  kick(): Promise<void>;
}
