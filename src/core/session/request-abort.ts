import type { Executor, SendOptions } from "../executor.ts";

/**
 * The options of one request, which is aborted when its caller stops waiting for the answer.
 *
 * Its signal is made when a driver asks for it: an engine in this process does not, and pays nothing.
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

/** The executor with one abort for all that it sends. */
export function abortable(executor: Executor, options: RequestAbort): Executor {
  return {
    name: executor.name,
    dialect: executor.dialect,
    protocol: executor.protocol,
    limits: executor.limits,
    run: (statement) => executor.run(statement, options),
    batch: (statements) => executor.batch(statements, options),
    classify: (error) => executor.classify(error),
    close: () => executor.close(),
  };
}
