export {
  type AnyTaskDefinition,
  defineTask,
  type TaskDefinition,
  type TaskOptions,
  typed,
} from "./define-task.ts";
export type { FleetLimits, RateLimit, TaskLimits } from "./limits.ts";
export type { RetentionRule } from "./retention.ts";
export type { StandardSchemaV1 } from "./standard-schema.ts";
export type {
  DebounceOptions,
  SubmitEntry,
  SubmitOptions,
  ThrottleOptions,
} from "./submit/submit-options.ts";
export type { ListOptions, PurgeOptions, ReadCallOptions, RetryOptions, SweepOptions } from "./task-admin.ts";
export type { PayloadOf, ResultOf, SubmittedOf, TaskOf } from "./task-types.ts";
export type { PreparedBatch, StatementBuilder } from "./transactional/batch.ts";
export type { TransactionClient } from "./transactional/transaction.ts";
export { type SyncWadi, Wadi, type WadiOf, type WadiOptions } from "./wadi.ts";
export type { WaitOptions } from "./wait/wait.ts";
