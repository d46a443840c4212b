/** The protocol version that this SDK speaks, and the guard that keeps it from writing to another one. */

import { ProtocolVersionMismatch } from "../errors/errors.ts";
import type { Executor, Statement } from "../executor.ts";
import { failedFence } from "../operations/fence.ts";
import { bind } from "../operations/statement.ts";

/** The CairnQ protocol version this SDK speaks. */
export const PROTOCOL_VERSION = "1";

/** How a guard names itself when it refuses; the version that it found follows. */
const GUARD = "protocol_version_";

/** Whether the statement contains a guard: a database of another version then refuses it, and its whole batch. */
export function isGuarded({ sql }: Statement): boolean {
  return sql.includes(`wadi:${GUARD}`);
}

/** The error of a guard that refused; undefined for any other error. */
export function otherVersion(error: unknown): ProtocolVersionMismatch | undefined {
  const fence = failedFence(error);
  return fence?.startsWith(GUARD) ? new ProtocolVersionMismatch(fence.slice(GUARD.length)) : undefined;
}

/**
 * Reads the version, to find out whether a refusal was that of the guard.
 *
 * @throws {ProtocolVersionMismatch} if the database speaks another version.
 */
export async function explainVersion(executor: Executor): Promise<void> {
  const [row] = await executor.run(bind(executor, "select_version", {}));
  if (row !== undefined && row.version !== PROTOCOL_VERSION) {
    throw new ProtocolVersionMismatch(String(row.version));
  }
}
