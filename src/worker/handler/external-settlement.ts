import type { Outcome } from "../../core/operations/settle.ts";

/**
 * A settlement that is stored outside of the drain's round trips, together with statements of the application. It
 * keeps how the attempt would have ended meanwhile.
 */
export class ExternalSettlement {
  readonly #abort = new AbortController();
  #outcome: Outcome | null = null;
  #thrown: { readonly error: unknown } | null = null;

  /** Aborts when the request is to be given up. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** How the attempt ends if the settlement is not stored; null: it goes on. */
  get outcome(): Outcome | null {
    return this.#outcome;
  }

  get hasThrown(): boolean {
    return this.#thrown !== null;
  }

  /** The error that the handler threw meanwhile. */
  get thrown(): unknown {
    return this.#thrown?.error;
  }

  defer(outcome: Outcome): void {
    this.#outcome = outcome;
  }

  deferThrown(error: unknown): void {
    this.#thrown = { error };
  }

  giveUp(reason: unknown): void {
    this.#abort.abort(reason);
  }
}
