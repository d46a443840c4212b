/** An end of a wait by an `AbortSignal`. */

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
