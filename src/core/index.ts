export type { Backoff } from "./backoff.ts";
export {
  AlreadyExists,
  DriverError,
  type ErrorCode,
  EventLoopBlocked,
  InvalidArgument,
  LostLease,
  ProtocolVersionMismatch,
  QueryLimit,
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
} from "./errors/errors.ts";
export type { EventLoopBlockedDetails } from "./errors/event-loop-blocked.ts";
export type {
  Answer,
  Dialect,
  ErrorClass,
  Executor,
  Limits,
  NativeBatch,
  OpenTransaction,
  Row,
  SendOptions,
  Statement,
  Value,
} from "./executor.ts";
export type { JsonForm } from "./json/json-form.ts";
export { type MigrateOptions, migrate } from "./migrations/migrate.ts";
export type {
  CanceledTask,
  CancelOutcome,
  Retention,
  RetriedTask,
  RetryOutcome,
  SweepResult,
} from "./operations/control.ts";
export type { StatusCounts, TaskRef, TaskState } from "./operations/read.ts";
export type { SubmitOutcome, SubmittedTask } from "./operations/submit.ts";
export type { CompiledStatement, Migration, Protocol } from "./protocol.ts";
export type { CallOptions } from "./session/call-options.ts";
export type { RetryPolicy } from "./session/retry-policy.ts";
export type { StoreOptions } from "./session/store.ts";
export { Store } from "./session/store.ts";
export {
  type ConflictPolicy,
  type ErrorEnvelope,
  isCanceled,
  isFailed,
  isSucceeded,
  isTerminal,
  type Json,
  type JsonArray,
  type JsonObject,
  type Task,
  type TaskFailure,
  type TaskStatus,
} from "./task.ts";
