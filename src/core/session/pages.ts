import { type DriverError, WadiError } from "../errors/errors.ts";

/** Whether an answer was larger than the database or its client may send. What was asked for may have been committed. */
export function isTooLarge(error: unknown): boolean {
  return WadiError.is(error) && (error as Partial<DriverError>).kind === "response-too-large";
}

/**
 * Reads `count` rows from the `first` on, in one request unless the answer is larger than the database or its client
 * may send: then each half by itself. One row that is too large alone is the caller's error.
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
