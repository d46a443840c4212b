/** How errors of the handler are reported. */

import { HttpError } from "./http-error.ts";

/** Calls `onError`. If that throws or rejects, both its error and the reported one are logged. */
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
