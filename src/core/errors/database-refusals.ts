/** Distinguishes refusals of the database, after which nothing was written, from other errors. */

import type { DriverError } from "./database-errors.ts";
import { WadiError } from "./wadi-error.ts";

/** Whether the database refused the operation and wrote nothing, so that sending it again would not help. */
export function isDatabaseRefusal(error: unknown): boolean {
  if (!WadiError.is(error) || error.code !== "DRIVER_ERROR" || error.retryable) return false;
  return (error as DriverError).kind !== "response-too-large"; // which may have been committed
}
