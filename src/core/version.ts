import { ProtocolVersionMismatch } from "./errors.ts";
import type { Dialect, Executor, Statement } from "./executor.ts";

/** The CairnQ protocol version this SDK speaks. */
export const PROTOCOL_VERSION = "1";

// A batch cannot branch, so a version that is not ours is turned into an error that undoes the batch.
const GUARD: Record<Dialect, string> = {
  sqlite: `select json('protocol version ' || value) from cairnq_meta where key = 'protocol_version' and value <> '${PROTOCOL_VERSION}'`,
  postgres: `select ('protocol version ' || value)::int from cairnq_meta where key = 'protocol_version' and value <> '${PROTOCOL_VERSION}'`,
};

const READ = "select value from cairnq_meta where key = 'protocol_version'";

/** A statement that fails on a database of another protocol version and else returns nothing. */
export function versionGuard(dialect: Dialect): Statement {
  return { sql: GUARD[dialect], params: [] };
}

/**
 * Says whether a refusal was the guard's.
 *
 * @throws {ProtocolVersionMismatch} if the database speaks another version.
 */
export async function explainVersion(executor: Executor): Promise<void> {
  const [row] = await executor.run({ sql: READ, params: [] });
  if (row !== undefined && row.value !== PROTOCOL_VERSION)
    throw new ProtocolVersionMismatch(String(row.value));
}
