import { HttpError } from "./http-error.ts";

/** Calls `onError`, and logs what it throws or rejects with, and the error it was called for. */
export function reporter(onError: (error: unknown) => unknown): (error: unknown) => void {
  return (error) => {
    const failed = (thrown: unknown) => {
      logError(error);
      console.error("wadi: onError of createHandler failed", thrown);
    };
    try {
      void Promise.resolve(onError(error)).catch(failed);
    } catch (thrown) {
      failed(thrown);
    }
  };
}

export function logError(error: unknown): void {
  console.error(error instanceof HttpError ? `wadi: ${error.message}` : error);
}
