/** The check of a time zone: what the platform's `Intl` knows, with a message that says what to write. */

import { InvalidArgument } from "../core/errors/errors.ts";

/** @throws {InvalidArgument} if it is no zone that this platform knows. */
export function checkTimeZone(option: string, value: unknown = "UTC"): string {
  if (typeof value === "string" && value !== "" && isKnown(value)) return value;
  const found = typeof value === "string" ? `"${value.slice(0, 40)}"` : typeof value;
  throw new InvalidArgument(
    `${option} must be an IANA time zone that this platform knows, such as "Europe/Berlin" or "UTC", got ${found}`,
  );
}

function isKnown(timeZone: string): boolean {
  if (/^[+-]/.test(timeZone)) return false; // an offset has no rules for its summer, and not every platform takes it
  try {
    new Intl.DateTimeFormat("en", { timeZone });
    return true;
  } catch {
    return false;
  }
}
