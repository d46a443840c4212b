import type { ErrorClass } from "./executor.ts";

/** Whether the same request may succeed later, or may even have succeeded. */
export function isTransient(kind: ErrorClass): boolean {
  return kind === "busy" || kind === "unavailable" || kind === "unknown";
}
