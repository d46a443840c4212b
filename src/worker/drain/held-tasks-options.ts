import type { Backoff } from "../../core/backoff.ts";
import type { Wadi } from "../../producer/wadi.ts";
import type { AttemptOwner } from "../handler/attempt.ts";
import type { WorkerHooks } from "../hooks.ts";
import type { ByteBudget } from "./byte-budget.ts";
import type { SlotPool } from "./slot-pool.ts";
import type { Tally } from "./tally.ts";
import type { Unreturned } from "./unreturned-calls.ts";

/** What the held tasks of a drain need of it. */
export interface HeldTasksOptions {
  readonly wadi: Wadi;
  readonly hooks: WorkerHooks;
  readonly backoff: Backoff;
  readonly leaseMs: number;
  /** When the drain is over. */
  readonly deadlineMs: number;
  /** When handlers are stopped. */
  readonly stopAtMs: number;
  /** How long an aborted handler may take to come back before it is cut off, in milliseconds. */
  readonly cutOffMs: number;
  readonly pools: readonly SlotPool[];
  readonly bytes: ByteBudget;
  readonly tally: Tally;
  readonly newShare: AttemptOwner["newShare"];
  readonly unreturned: Unreturned;
  /** Called when attempts ended outside of a call of `start`. */
  readonly onEnd: () => void;
  /** Called with an error that no other place takes: the drain fails with it. */
  readonly onFault: (error: unknown) => void;
  /** Called when a task has ended or is lost without a settlement of the outbox. */
  readonly onChange: () => void;
}
