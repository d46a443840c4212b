// What a SQLSTATE means for the statement that failed, and where to find it in an error, for every client of Postgres.

import { causeChain } from "../../core/errors/causes.ts";
import type { ErrorClass } from "../../core/executor.ts";

/** A SQLSTATE but no error code of Node: `EPIPE` has five capitals too. */
const SQLSTATE = /^(?:\d[0-9A-Z]|F0|HV|P0|XX)[0-9A-Z]{3}$/;

/** Network errors that occur before the first byte of the request. */
const NOT_SENT = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** The longest listed prefix decides: a whole SQLSTATE comes before its two-character class. */
const CLASSES: Readonly<Record<string, ErrorClass>> = {
  "08": "unknown", // the connection broke; poolers also use 08P01 when they lost the server
  "08001": "unavailable",
  "08004": "unavailable",
  "22": "invalid-value", // encoding, range, JSON, time
  "23": "conflict",
  "25006": "unavailable", // read-only: a standby, or a primary that became one
  "25P03": "unavailable", // idle in a transaction for too long: rolled back, and the connection ends
  "25P04": "busy", // transaction_timeout: likewise
  "28": "denied",
  "3D000": "denied", // no such database
  "40": "busy", // serialization failure, deadlock: rolled back, and worth another try
  "40002": "conflict",
  "40003": "unknown",
  "53": "busy", // out of memory, disk or some other resource: rolled back
  "53300": "unavailable", // too many connections: refused before any statement
  "54": "invalid-value", // too large for an index, a jsonb value or the stack
  "54011": "rejected", // too many columns
  "54023": "rejected", // too many arguments
  "55006": "busy",
  "55P03": "busy",
  "57000": "busy",
  "57014": "busy", // statement_timeout or a cancel request: rolled back
  // The server ended the connection, possibly between the commit and the answer.
  "57P": "unknown",
  "57P03": "unavailable", // starting up or shutting down: refused at connect
  "57P05": "unavailable", // idle for too long: it ended before it read the statement
  "58": "unknown",
  "72000": "busy", // snapshot too old
  XX: "unknown", // internal errors; poolers also use it when they lost the server
  "42P01": "missing-schema",
  "42703": "missing-schema",
  "3F000": "missing-schema",
};

/** What an error with this SQLSTATE means for the statement that failed. */
export function classifySqlState(code: string): ErrorClass {
  return CLASSES[code] ?? CLASSES[code.slice(0, 3)] ?? CLASSES[code.slice(0, 2)] ?? "rejected";
}

/**
 * SQLSTATEs after which a connection is of no use: the server closes it (08, 25P03, 25P04, 57P, internal errors), or
 * refuses on it what another connection may get (25006: a standby).
 */
const BROKEN = /^(?:08|25006|25P0[34]|57P|58|XX)/;

/** Whether a connection must be dropped after an error with this code. An error without a SQLSTATE broke it. */
export function endsConnection(code: string | undefined): boolean {
  return code === undefined || BROKEN.test(code);
}

/** The server's routine that refuses a wrong number of values, with 08P01, although the connection stays usable. */
const BIND = "exec_bind_message";
const UNDEFINED_PARAMETER = "42P02";

/** The first SQLSTATE in an error and its causes. */
export function sqlStateOf(error: unknown): string | undefined {
  for (const { code, routine } of causeChain(error) as { code?: unknown; routine?: unknown }[]) {
    if (routine === BIND) return UNDEFINED_PARAMETER;
    if (typeof code === "string" && SQLSTATE.test(code)) return code;
  }
  return undefined;
}

/** Whether the network failed before anything could have been sent. */
export function failedToConnect(error: unknown): boolean {
  return causeChain(error).some((cause) => {
    const { code, syscall } = cause as { code?: unknown; syscall?: unknown };
    return syscall === "connect" || (typeof code === "string" && NOT_SENT.has(code));
  });
}
