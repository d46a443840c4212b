import type { SendOptions } from "./executor.ts";

/**
 * The options of one request, which is aborted when its caller stops waiting for the answer.
 *
 * Its signal is made when a driver asks for it: an engine in this process does not, and pays nothing.
 */
export class RequestAbort implements SendOptions {
  readonly mayBeLost: boolean;
  readonly openTransaction: "wait" | "refuse";
  #controller: AbortController | undefined;

  constructor(mayBeLost: boolean, openTransaction: "wait" | "refuse") {
    this.mayBeLost = mayBeLost;
    this.openTransaction = openTransaction;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#controller?.abort(reason);
  }
}
