/** Two pieces that every kind of wait is made of: a promise with its resolvers, and an end by an `AbortSignal`. */

export function withResolvers<T>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((...functions) => {
    [resolve, reject] = functions;
  });
  return { promise, resolve, reject };
}

/** Calls `onAbort` with the signal's reason until the returned function is called. */
export function endOnAbort(signal: AbortSignal | undefined, onAbort: (reason: unknown) => void): () => void {
  const abort = () => {
    end();
    onAbort(signal!.reason);
  };
  const end = () => signal?.removeEventListener("abort", abort);
  signal?.addEventListener("abort", abort);
  return end;
}
