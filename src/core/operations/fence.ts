import { LostLease, type WadiError } from "../errors/errors.ts";
import type { Statement } from "../executor.ts";
import type { LeaseRef } from "./lease.ts";
import type { Operation, SqlTarget } from "./operation.ts";
import { bind } from "./statement.ts";

/** Makes its batch fail unless the lease is held, or also if a cancel was requested. */
export function fenceLease(
  target: SqlTarget,
  { id, workerId }: LeaseRef,
  unlessCanceled: boolean,
): Statement {
  const values = { id, worker_id: workerId, unless_canceled: unlessCanceled ? 1 : 0 };
  return bind(target, "fence_lease", values);
}

/** The message of the failed fence, in the text of the database's error or of one that caused it. */
export function fenceText(error: unknown): string | undefined {
  let current = error as { message?: unknown; cause?: unknown; sourceError?: unknown } | null | undefined;
  for (let depth = 8; current && depth > 0; depth--) {
    const message = String(current.message);
    if (/\bwadi:\w/.test(message)) return message;
    current = (current.cause ?? current.sourceError) as typeof current; // the Neon driver has its own word for it
  }
  return undefined;
}

/** Which fence failed. */
export function failedFence(error: unknown): string | undefined {
  return /\bwadi:(\w+)/.exec(fenceText(error) ?? "")?.[1];
}

/** The error of a failed fence around a lease. */
export function lostLeaseOf(error: unknown, { id }: LeaseRef): WadiError | undefined {
  return failedFence(error) === "lost_lease" ? new LostLease(id) : undefined;
}

/** An operation that is refused with `LostLease` unless the lease is held in the same moment; a round trip in all. */
export function fenceOperation<T>(target: SqlTarget, held: LeaseRef, operation: Operation<T>): Operation<T> {
  return {
    name: operation.name,
    statements: [fenceLease(target, held, false), ...operation.statements],
    decode: (results) => operation.decode(results.slice(1)),
    resend: () => fenceOperation(target, held, operation.resend?.() ?? operation),
    explain: (error) => lostLeaseOf(error, held),
  };
}
