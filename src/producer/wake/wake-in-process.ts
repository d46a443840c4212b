import { InvalidArgument } from "../../core/errors/errors.ts";
import { show } from "../../core/validate.ts";
import type { WakeFunction } from "./wake.ts";

/** The part of a `Worker` that a kick uses. */
export interface DrainerLike {
  drain(options?: {
    readonly hop?: number | undefined;
    readonly stayMs?: number | undefined;
  }): Promise<unknown>;
}

/** How long a drain waits for more submits, which it claims at once: they come from this process. */
const STAY_MS = 50;

/**
 * Kicks by a drain in this process, one at a time: a kick that comes while one runs starts another after it. The drain
 * is a part of the invocation's `waitUntil`. For servers, and for functions whose limits leave time after a response.
 *
 * @param worker The worker, or a function that returns it once it exists: a worker is made from its `Wadi`.
 * @throws {InvalidArgument} if it is neither.
 * @example
 * ```ts
 * import { Wadi, Worker, wakeInProcess } from "wadi";
 *
 * const wadi: Wadi = new Wadi(executor, { wake: wakeInProcess(() => worker) });
 * const worker = new Worker(wadi).task("mail", () => null);
 * ```
 */
export function wakeInProcess(worker: DrainerLike | (() => DrainerLike)): WakeFunction {
  if (typeof worker !== "function" && typeof worker?.drain !== "function") {
    throw new InvalidArgument(
      `wakeInProcess takes a Worker, or a function that returns one, got ${show(worker)}`,
    );
  }
  let isRunning = false;
  /** The hop of the kick that came meanwhile. */
  let next: number | null = null;
  return async ({ hop }) => {
    next = Math.max(next ?? 0, hop);
    // Not awaited: the drain that runs may be the one that kicks.
    if (isRunning) return;
    isRunning = true;
    try {
      while (next !== null) {
        const options = { hop: next, stayMs: STAY_MS };
        next = null;
        await (typeof worker === "function" ? worker() : worker).drain(options);
      }
    } finally {
      isRunning = false;
    }
  };
}
