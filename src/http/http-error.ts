/** A refusal with a status of its own. Its message is sent to the caller: it must not hold anything secret. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly status: number;
  /** Stable word for programs, UPPER_SNAKE. */
  readonly code: string;
  /** True if the same request, unchanged, may succeed later. */
  readonly retryable: boolean;
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
