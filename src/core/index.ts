export type { Backoff } from "./backoff.ts";
export { type AnyTaskDefinition, defineTask, type TaskDefinition, type TaskOptions } from "./define-task.ts";
export {
  AlreadyExists,
  DriverError,
  type ErrorCode,
  EventLoopBlocked,
  InvalidArgument,
  LostLease,
  ProtocolVersionMismatch,
  QueueFull,
  SchemaMismatch,
  SerializationError,
  TaskCanceled,
  TaskError,
  type TaskErrorOptions,
  TaskFailed,
  TaskTimeout,
  Unsupported,
  WadiError,
  type WadiErrorOptions,
} from "./errors.ts";
export type {
  Answer,
  Dialect,
  ErrorClass,
  Executor,
  Limits,
  NativeBatch,
  OpenTransaction,
  Row,
  Statement,
  Value,
} from "./executor.ts";
export type { FleetLimits, RateLimit, TaskLimits } from "./limits.ts";
export { type MigrateOptions, migrate } from "./migrate.ts";
export type { Swept } from "./operations/control.ts";
export type { StatusCounts, TaskRef, TaskState } from "./operations/read.ts";
export type { SubmitOutcome, SubmittedTask } from "./operations/submit.ts";
export type { OwnBatch, Statements } from "./own-batch.ts";
export type { InTransaction } from "./own-transaction.ts";
export type { DebounceOptions, ThrottleOptions } from "./pacing.ts";
export type { CompiledStatement, Migration, Protocol } from "./protocol.ts";
export type { Retention, RetentionRule } from "./retention.ts";
export type { CallOptions, RetryPolicy } from "./session.ts";
export type { StandardSchemaV1 } from "./standard-schema.ts";
export type { StoreOptions } from "./store.ts";
export { Store } from "./store.ts";
export type { SubmitEntry, SubmitOptions } from "./submission.ts";
export {
  type ConflictPolicy,
  type ErrorEnvelope,
  isTerminal,
  type Json,
  type Task,
  type TaskFailure,
  type TaskStatus,
} from "./task.ts";
export type { ListOptions, PurgeOptions, RetryOptions, SweepOptions } from "./task-admin.ts";
export { Wadi, type WadiOptions } from "./wadi.ts";
export type { WaitOptions } from "./wait.ts";
