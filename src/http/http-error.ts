/**
 * A refusal with a status code. Its message is sent to the client, so it must not contain anything secret.
 *
 * @example
 * ```ts
 * import { HttpError } from "wadi/http";
 *
 * throw new HttpError(500, "NOT_CONFIGURED", "set DATABASE_URL");
 * ```
 */
export class HttpError extends Error {
  override readonly name = "HttpError";
  /** The status of the answer. */
  readonly status: number;
  /** Stable identifier for programs, in UPPER_SNAKE case. */
  readonly code: string;
  /** True if the same request, unchanged, may succeed later. */
  readonly retryable: boolean;
  /** Headers of the answer, in addition to those that every answer has. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: string,
    message: string,
    options: { readonly retryable?: boolean; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.headers = options.headers ?? {};
  }
}
