// Requests and answers of Neon's SQL over HTTP, and how they are executed on a Postgres connection.

import type { IncomingMessage } from "node:http";

export interface Query {
  query: string;
  params?: (string | null)[];
}

export const MAX_BYTES = 10 * 1024 * 1024;
const ISOLATION: Record<string, string> = {
  ReadUncommitted: "read uncommitted",
  ReadCommitted: "read committed",
  RepeatableRead: "repeatable read",
  Serializable: "serializable",
};
const ERROR_FIELDS = [
  ...[
    "code",
    "detail",
    "hint",
    "position",
    "internalPosition",
    "internalQuery",
    "severity",
    "where",
    "table",
  ],
  ...["column", "schema", "dataType", "constraint", "file", "line", "routine"],
] as const;

/** An error of the endpoint itself, not of Postgres. */
export class Answer extends Error {
  readonly status: number;
  readonly body: string;
  constructor(status: number, body: string) {
    super(body);
    this.status = status;
    this.body = body;
  }
}

export function startTransaction({ headers }: IncomingMessage): string {
  const isolation = headers["neon-batch-isolation-level"];
  const level = isolation === undefined ? "" : ISOLATION[String(isolation)];
  if (level === undefined) throw new Error(`invalid isolation level: ${isolation}`);
  const readOnly = headers["neon-batch-read-only"];
  const parts = [
    level && `isolation level ${level}`,
    readOnly !== undefined && (readOnly === "true" ? "read only" : "read write"),
    headers["neon-batch-deferrable"] === "true" && "deferrable",
  ];
  return `start transaction ${parts.filter(Boolean).join(", ")}`;
}

export function checkConnectionString({ headers }: IncomingMessage, database: URL): void {
  if (headers["neon-raw-text-output"] !== "true" || headers["neon-array-mode"] !== "true") {
    throw new Error("this endpoint speaks raw text in array mode only");
  }
  const given = URL.parse(String(headers["neon-connection-string"]));
  if (given === null) throw new Error("connection string is missing or invalid");
  if (given.username !== database.username || given.password !== database.password) {
    throw Object.assign(new Error(`password authentication failed for user '${given.username}'`), {
      code: "28P01",
    });
  }
  if (given.pathname !== database.pathname)
    throw Object.assign(new Error("database does not exist"), { code: "3D000" });
}

export function parseBody(body: string): Query | { queries: Query[] } {
  try {
    return JSON.parse(body);
  } catch {
    throw new Error("could not parse the request body");
  }
}

export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= MAX_BYTES) chunks.push(chunk);
  }
  if (bytes > MAX_BYTES) throw new Answer(413, "request is too large (max is 10485760 bytes)");
  return Buffer.concat(chunks).toString("utf8");
}

/** Errors that do not come from Postgres have the same shape, and an empty code. */
export function errorBody(message: string, error: Record<string, unknown> = {}): string {
  const fromPostgres =
    typeof error.code === "string" && /^[0-9A-Z]{5}$/.test(error.code) && !("syscall" in error);
  const source = fromPostgres ? error : { code: "", severity: "" };
  return JSON.stringify({
    message,
    ...Object.fromEntries(ERROR_FIELDS.map((name) => [name, source[name] ?? null])),
  });
}
