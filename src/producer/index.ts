export {
  type AnyTaskDefinition,
  defineTask,
  type TaskDefinition,
  type TaskOptions,
  typed,
} from "./define-task.ts";
export type { FleetLimits, RateLimit, TaskLimits } from "./limits.ts";
export type { OwnBatch, Statements } from "./own-batch.ts";
export type { InTransaction } from "./own-transaction.ts";
export type { DebounceOptions, ThrottleOptions } from "./pacing.ts";
export type { RetentionRule } from "./retention.ts";
export type { StandardSchemaV1 } from "./standard-schema.ts";
export type { SubmitEntry, SubmitOptions } from "./submission.ts";
export type { ListOptions, PurgeOptions, ReadCallOptions, RetryOptions, SweepOptions } from "./task-admin.ts";
export type { PayloadOf, ResultOf, SubmittedOf, TaskOf } from "./task-types.ts";
export { type SyncWadi, Wadi, type WadiOf, type WadiOptions } from "./wadi.ts";
export type { WaitOptions } from "./wait.ts";
