import type { Outcome } from "../../core/operations/settle.ts";

/**
 * A settlement that is stored outside of the drain's round trips, together with statements of the application. If the
 * handler returns or throws while it is being stored, that outcome is kept, and used if storing fails. Only the
 * settlement writes its fields.
 */
export class ExternalSettlement {
  readonly #abort = new AbortController();
  /** Aborts when the request is to be given up. */
  readonly signal = this.#abort.signal;
  /** How the attempt ends if the settlement is not stored; null: it goes on. */
  outcome: Outcome | null = null;
  /** The error that the handler threw meanwhile. */
  thrown: { readonly error: unknown } | null = null;

  defer(outcome: Outcome): void {
    this.outcome = outcome;
  }

  deferThrown(error: unknown): void {
    this.thrown = { error };
  }

  giveUp(reason: unknown): void {
    this.#abort.abort(reason);
  }
}
