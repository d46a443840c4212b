/** The options that end a call, as an application passes them, and their checks. */
import { InvalidArgument } from "../core/errors/errors.ts";
import { type OperationOptions, refuseOpenTransaction } from "../core/session/operation-options.ts";
import { onlyKnown, optionalSignal } from "../core/validate.ts";

/** What may end a call: the last argument of each method that reads or controls tasks. */
export interface CallOptions {
  /** Ends the call with the signal's reason. @default none */
  readonly signal?: AbortSignal | undefined;
  /** When the call ends at the latest, answered or not, in epoch milliseconds. @default 30 seconds from now */
  readonly deadlineMs?: number | undefined;
}

/** When a submit ends at the latest. */
export interface SubmitCallOptions {
  /**
   * Ends the submit with the signal's reason. A task that was already sent may still be queued: give it a key, and a
   * second submit finds the first.
   * @default none
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * When it ends at the latest, answered or not, in epoch milliseconds. This includes its wait for room in the queue
   * (`maxQueueWaitMs`). @default 30 seconds for each request
   */
  readonly deadlineMs?: number | undefined;
}

const CALL_OPTIONS = Object.keys({ signal: true, deadlineMs: true } satisfies Record<
  keyof SubmitCallOptions,
  true
>);

/** The checked options of a call of application code. @throws {InvalidArgument} */
export function directCall(what: string, call: SubmitCallOptions | undefined): OperationOptions {
  return refuseOpenTransaction(checkCall(what, call));
}

/** @throws {InvalidArgument} naming the option, or the signal's reason if it is aborted already. */
export function checkCall(what: string, call: SubmitCallOptions | undefined): SubmitCallOptions | undefined {
  if (call === undefined) return undefined;
  onlyKnown(what, call, CALL_OPTIONS);
  const { signal, deadlineMs } = call;
  optionalSignal(signal);
  if (deadlineMs !== undefined && (typeof deadlineMs !== "number" || !(deadlineMs >= 1e11))) {
    const found = typeof deadlineMs === "number" ? String(deadlineMs) : typeof deadlineMs;
    throw new InvalidArgument(
      "deadlineMs must be epoch milliseconds, such as Date.now() + 5000, " +
        `got ${found}, which looks like seconds or a duration`,
    );
  }
  signal?.throwIfAborted();
  return call;
}

/** Splits the options of a call into those that may end it and the rest. @throws {InvalidArgument} */
export function splitCall<O extends object>(
  what: string,
  options: (O & SubmitCallOptions) | undefined,
  known: readonly string[],
): { readonly call: SubmitCallOptions | undefined; readonly rest: O | undefined } {
  if (options === undefined) return { call: undefined, rest: undefined };
  onlyKnown(what, options, [...known, ...CALL_OPTIONS]);
  if (!CALL_OPTIONS.some((name) => name in options)) return { call: undefined, rest: options };
  const { signal, deadlineMs, ...rest } = options;
  return { call: checkCall(what, { signal, deadlineMs }), rest: rest as unknown as O };
}
