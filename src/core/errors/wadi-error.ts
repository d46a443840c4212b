/** The base class of all errors, and the two that drivers throw too. This file imports nothing. */

const BRAND = Symbol.for("wadi.error");

/** The stable identifier of an error, for programs; docs/errors.md says what causes each one. */
export type ErrorCode =
  | "ALREADY_EXISTS"
  | "DRIVER_ERROR"
  | "EVENT_LOOP_BLOCKED"
  | "INVALID_ARGUMENT"
  | "LOST_LEASE"
  | "PROTOCOL_VERSION_MISMATCH"
  | "QUERY_LIMIT"
  | "QUEUE_FULL"
  | "SCHEMA_MISMATCH"
  | "SCOPE_MISMATCH"
  | "SERIALIZATION_ERROR"
  | "TASK_CANCELED"
  | "TASK_ERROR"
  | "TASK_FAILED"
  | "TASK_TIMEOUT"
  | "UNSUPPORTED";

/** Options of every new error. */
export interface WadiErrorOptions {
  /** Whether the same call, unchanged, may succeed later. @default false */
  retryable?: boolean;
  /** The error behind this one. @default none */
  cause?: unknown;
}

/**
 * The base of every error that Wadi throws. `WadiError.is(error)` also recognises the errors of a second copy of the
 * package, as bundlers make them; `instanceof` does not.
 *
 * @example
 * ```ts
 * import { WadiError } from "wadi";
 *
 * try {
 *   await wadi.submit("mail", { to: "ada@example.com" });
 * } catch (error) {
 *   if (WadiError.is(error) && error.retryable) console.warn(`try again later: ${error.code}`);
 *   else throw error;
 * }
 * ```
 */
export class WadiError extends Error {
  /** The name of the class, which a minifier does not change. */
  override readonly name: string = "WadiError";
  /** Says which error it is, for programs. */
  readonly code: ErrorCode;
  /** True if the same call, unchanged, may succeed later. */
  readonly retryable: boolean;

  constructor(code: ErrorCode, message: string, options: WadiErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable ?? false;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Whether `error` is an error of Wadi, also one of a second copy of the package. */
  static is(error: unknown): error is WadiError {
    return typeof error === "object" && error !== null && BRAND in error;
  }
}

/** An argument or option is out of range or of the wrong type. Thrown before any I/O. */
export class InvalidArgument extends WadiError {
  override readonly name = "InvalidArgument";
  constructor(message: string, options?: WadiErrorOptions) {
    super("INVALID_ARGUMENT", message, options);
  }
}

/** This driver or client cannot do the operation atomically; the message says what to use instead. */
export class Unsupported extends WadiError {
  override readonly name = "Unsupported";
  constructor(message: string, options: WadiErrorOptions = {}) {
    super("UNSUPPORTED", message, options);
  }
}
