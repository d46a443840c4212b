/** Work of a `Wadi` that no caller waits for: it keeps the invocation alive, and its errors go to `onError`. */

import { optionalFunction } from "../core/check-options.ts";
import { vercelContext } from "../core/vercel-context.ts";
import type { WadiOptions } from "./wadi-options.ts";

/** What the work is for, as `onError` gets it. */
export type BackgroundOperation = "wake" | "hint";

const WARNINGS: Record<BackgroundOperation, string> = {
  wake: "wadi: a kick failed; its tasks wait for the next kick or cron job",
  hint: "wadi: the hint could not be written; a new task may wait until the hint is maxAgeMs old",
};

export class Background {
  readonly #waitUntil: WadiOptions["waitUntil"];
  readonly #onError: NonNullable<WadiOptions["onError"]>;

  /** @throws {InvalidArgument} if an option is of the wrong type. */
  constructor({ waitUntil, onError }: Pick<WadiOptions, "waitUntil" | "onError">) {
    optionalFunction("waitUntil", waitUntil);
    optionalFunction("onError", onError);
    this.#waitUntil = waitUntil;
    this.#onError = onError ?? ((error, { operation }) => console.warn(WARNINGS[operation], error));
  }

  /** Keeps the invocation alive for the promise, and reports its error. Never rejects. */
  run(operation: BackgroundOperation, promise: Promise<unknown>): Promise<void> {
    const reported = promise.then(
      () => {},
      (error: unknown) => this.#report(error, operation),
    );
    try {
      if (this.#waitUntil !== undefined) this.#waitUntil(reported);
      else vercelContext()?.waitUntil?.(reported);
    } catch (error) {
      this.#report(error, operation);
    }
    return reported;
  }

  #report(error: unknown, operation: BackgroundOperation): void {
    // An error of the hook must not fail a submit that has succeeded.
    try {
      void Promise.resolve(this.#onError(error, { operation })).catch(() => {});
    } catch {}
  }
}
