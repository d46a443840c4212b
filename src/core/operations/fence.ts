/** Fences: statements that make their whole batch fail unless a condition holds in the same moment. */

import { causeChain } from "../errors/causes.ts";
import { LostLease, type WadiError } from "../errors/errors.ts";
import type { Statement } from "../executor.ts";
import type { LeaseRef } from "./lease.ts";
import type { Operation, SqlTarget } from "./operation.ts";
import { bind } from "./statement.ts";

/** Fails its batch unless the lease is held and, with `unlessCanceled`, no cancel was requested. */
export function fenceLease(
  target: SqlTarget,
  { id, workerId }: LeaseRef,
  unlessCanceled: boolean,
): Statement {
  const values = { id, worker_id: workerId, unless_canceled: unlessCanceled ? 1 : 0 };
  return bind(target, "fence_lease", values);
}

/** The message of a failed fence, found in an error of the database or in one of its causes. */
export function fenceText(error: unknown): string | undefined {
  return causeChain(error)
    .map(({ message }) => String(message))
    .find((message) => /\bwadi:\w/.test(message));
}

/** The word by which the failed fence names itself. */
export function failedFence(error: unknown): string | undefined {
  return /\bwadi:(\w+)/.exec(fenceText(error) ?? "")?.[1];
}

/** The error for a failed lease fence; undefined for any other error. */
export function lostLeaseOf(error: unknown, { id }: LeaseRef): WadiError | undefined {
  return failedFence(error) === "lost_lease" ? new LostLease(id) : undefined;
}

/** The operation, refused with `LostLease` unless the lease is held in the same moment. It stays one round trip. */
export function fenceOperation<T>(target: SqlTarget, lease: LeaseRef, operation: Operation<T>): Operation<T> {
  return {
    name: operation.name,
    statements: [fenceLease(target, lease, false), ...operation.statements],
    decode: (results) => operation.decode(results.slice(1)),
    resend: () => fenceOperation(target, lease, operation.resend?.() ?? operation),
    explain: (error) => lostLeaseOf(error, lease),
  };
}
