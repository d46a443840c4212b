import { type Span, SpanStatusCode } from "@opentelemetry/api";
import type { ErrorEnvelope } from "../core/task.ts";
import { ATTRIBUTE } from "./attributes.ts";
import { type Ended, failureOf } from "./outcome.ts";

/**
 * The span of one handler call, for one task or a batch of them. It ends once the handler and all of its attempts have
 * ended, at the time when the handler returned.
 */
export class HandlerSpan {
  readonly #span: Span;
  readonly #isBatch: boolean;
  /** Attempts whose end will be reported and has not been yet. */
  #openAttempts: number;
  #thrown: { readonly error: unknown } | undefined;
  #hasFailed = false;
  /** When the handler returned, on the clock of `performance.now()`. */
  #returnedAt: number | undefined;

  constructor(span: Span, isBatch: boolean, openAttempts: number) {
    this.#span = span;
    this.#isBatch = isBatch;
    this.#openAttempts = openAttempts;
  }

  handlerThrew(error: unknown): void {
    this.#thrown = { error };
  }

  handlerEnded(): void {
    this.#returnedAt = performance.now();
    if (this.#openAttempts > 0) return;
    if (this.#thrown !== undefined) {
      const { error } = this.#thrown;
      this.#fail(error instanceof Error ? error.name : typeof error);
    }
    this.#span.end(this.#returnedAt);
  }

  attemptEnded(event: Ended): void {
    const failure = failureOf(event);
    const outcome = { [ATTRIBUTE.outcome]: event.type };
    if (!this.#isBatch) this.#span.setAttributes(outcome);
    else if (event.type !== "succeeded") {
      const about = { [ATTRIBUTE.messageId]: event.id, ...outcome };
      const attributes = failure === null ? about : { ...about, [ATTRIBUTE.errorType]: failure };
      this.#span.addEvent("wadi.task.ended", attributes);
    }
    if (failure !== null) {
      this.#fail(failure, event.type === "failed" || event.type === "retried" ? event.error : undefined);
    }
    if (--this.#openAttempts === 0) this.#span.end(this.#returnedAt);
  }

  /** Marks the span as failed, once: an error that fails a batch fails all of its tasks. */
  #fail(errorType: string, stored?: ErrorEnvelope): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#span.setAttribute(ATTRIBUTE.errorType, errorType);
    const thrown = this.#thrown?.error;
    const isStored = stored === undefined || (thrown instanceof Error && thrown.name === stored.type);
    if (isStored && thrown instanceof Error) {
      this.#span.recordException(thrown); // it has the stack
    } else if (stored !== undefined) {
      this.#span.recordException({ name: stored.type, message: stored.message });
    }
    const message = stored?.message ?? (thrown instanceof Error ? thrown.message : errorType);
    this.#span.setStatus({ code: SpanStatusCode.ERROR, message });
  }
}
