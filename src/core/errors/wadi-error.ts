/** The base class of all errors, and the two that drivers throw too. This file imports nothing. */

const BRAND = Symbol.for("wadi.error");

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
  | "SERIALIZATION_ERROR"
  | "TASK_CANCELED"
  | "TASK_ERROR"
  | "TASK_FAILED"
  | "TASK_TIMEOUT"
  | "UNSUPPORTED";

export interface WadiErrorOptions {
  /** @default false */
  retryable?: boolean;
  cause?: unknown;
}

/** Base of every error that Wadi throws. `WadiError.is(e)` also recognises errors of a second copy of the package. */
export class WadiError extends Error {
  override readonly name: string = "WadiError";
  readonly code: ErrorCode;
  /** True if the same call, unchanged, may succeed later. */
  readonly retryable: boolean;

  constructor(code: ErrorCode, message: string, options: WadiErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable ?? false;
    Object.defineProperty(this, BRAND, { value: true });
  }

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
