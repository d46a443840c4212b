import { ProtocolVersionMismatch } from "../errors/errors.ts";
import type { Executor, Statement } from "../executor.ts";
import { failedFence } from "../operations/fence.ts";
import { bind } from "../operations/statement.ts";

/** The CairnQ protocol version this SDK speaks. */
export const PROTOCOL_VERSION = "1";

/** What the guard within a statement says of a database of another version, followed by that version. */
const GUARD = "protocol_version_";

/** Whether a database of another protocol version refuses this statement, and all of its batch. */
export function isGuarded({ sql }: Statement): boolean {
  return sql.includes(`wadi:${GUARD}`);
}

/** The error of a guarded statement that was refused. */
export function otherVersion(error: unknown): ProtocolVersionMismatch | undefined {
  const fence = failedFence(error);
  return fence?.startsWith(GUARD) ? new ProtocolVersionMismatch(fence.slice(GUARD.length)) : undefined;
}

/**
 * Says whether a refusal was that of the version guard.
 *
 * @throws {ProtocolVersionMismatch} if the database speaks another version.
 */
export async function explainVersion(executor: Executor): Promise<void> {
  const [row] = await executor.run(bind(executor, "select_version", {}));
  if (row !== undefined && row.version !== PROTOCOL_VERSION) {
    throw new ProtocolVersionMismatch(String(row.version));
  }
}
