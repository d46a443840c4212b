import { ProtocolVersionMismatch } from "./errors.ts";
import type { Executor } from "./executor.ts";
import { bind } from "./statement.ts";

/** The CairnQ protocol version this SDK speaks. */
export const PROTOCOL_VERSION = "1";

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
