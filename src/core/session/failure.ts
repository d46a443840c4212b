/** The meaning of a failed request for its caller: whether to send it again, and the error that explains it. */
import { DriverError } from "../errors/errors.ts";
import type { ErrorClass } from "../executor.ts";

const ADVICE: Record<ErrorClass, string> = {
  conflict: "the database refused it; its cause says why",
  busy: "the database stayed locked, overloaded or over its quota; try again later",
  unavailable:
    "the database could not be reached or takes no writes now; " +
    "check that it runs and that the client points at its primary",
  denied:
    "the database does not accept this client or its writes; " +
    "check the user, password or token, and that it is not opened read-only",
  unusable: "the client cannot be used: it was closed, or made without a database; its cause says which",
  "missing-schema":
    "its tables are missing and could not be created; " +
    "migrate with a role that may, and name a schema if the search path has none",
  "invalid-value": "the database refused a value; its cause says why",
  "response-too-large":
    "the answer is larger than the database or its client may send; ask for fewer or smaller tasks",
  rejected: "the database refused it; its cause says why",
  unknown:
    "the connection failed and the outcome is not known; check that the database can be reached, and send it again",
};

const LATE_ADVICE =
  "no answer came before its deadline, and the outcome is not known; send it again, or give it a later deadlineMs";

/** Whether the same request may succeed later, or may even have succeeded. */
export function isTransient(kind: ErrorClass, wasReached: boolean): boolean {
  if (kind === "denied") return wasReached; // a password that worked before is being changed
  return kind === "busy" || kind === "unavailable" || kind === "unknown";
}

/** Whether the error may come from the guard on the protocol's version, which SQLite reports as a failed constraint. */
export function mayBeGuard(kind: ErrorClass): boolean {
  return kind === "rejected" || kind === "invalid-value";
}

/** The error that a caller gets for an error of the database or its client. */
export function driverError(
  operation: string,
  executorName: string,
  kind: ErrorClass,
  cause: unknown,
  wasReached: boolean,
  advice = ADVICE[kind],
): DriverError {
  const retryable = isTransient(kind, wasReached);
  return new DriverError(`${operation} failed on ${executorName}: ${advice}`, { cause, kind, retryable });
}

/** The error of a request that was not answered before its deadline. */
export function lateError(operation: string, executorName: string): DriverError {
  return driverError(
    operation,
    executorName,
    "unknown",
    new Error("no answer came in time"),
    true,
    LATE_ADVICE,
  );
}
