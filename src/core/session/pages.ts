/** Reads many rows in as few requests as the size of the responses allows. */

import { type DriverError, WadiError } from "../errors/errors.ts";

/** Whether the response was larger than the database or its client may send. It may have been committed. */
export function isTooLarge(error: unknown): boolean {
  return WadiError.is(error) && (error as Partial<DriverError>).kind === "response-too-large";
}

/**
 * Reads `count` rows beginning with `first`, in one request. If the response is larger than the database or its client
 * may send, each half is read separately; a single row that is too large is an error.
 */
export async function inPages<T>(
  first: number,
  count: number,
  read: (first: number, count: number) => Promise<T[]>,
): Promise<T[]> {
  try {
    return await read(first, count);
  } catch (error) {
    if (count < 2 || !isTooLarge(error)) throw error;
  }
  const half = Math.ceil(count / 2);
  const page = await inPages(first, half, read);
  return [...page, ...(await inPages(first + half, count - half, read))];
}
