import type { SendOptions } from "../executor.ts";

/**
 * The abort signal of one request, as a driver gets it: it aborts when the caller stops waiting for the answer.
 *
 * The signal is created when a driver asks for it, so that an engine in this process, which does not, pays nothing.
 */
export class RequestAbort implements SendOptions {
  readonly mayBeLost: boolean;
  readonly openTransaction: "wait" | "refuse";
  #controller: AbortController | undefined;
  #aborted: { readonly reason: unknown } | undefined;

  constructor(mayBeLost = false, openTransaction: "wait" | "refuse" = "wait") {
    this.mayBeLost = mayBeLost;
    this.openTransaction = openTransaction;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted !== undefined) this.#controller.abort(this.#aborted.reason);
    }
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#aborted ??= { reason };
    this.#controller?.abort(reason);
  }
}
