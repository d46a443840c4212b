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
} from "./errors.ts";
export type { EventLoopBlockedDetails } from "./event-loop-blocked.ts";
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
export type { JsonForm } from "./json-form.ts";
export { type MigrateOptions, migrate } from "./migrate.ts";
export type {
  CanceledTask,
  CancelOutcome,
  Retention,
  RetriedTask,
  RetryOutcome,
  Swept,
} from "./operations/control.ts";
export type { StatusCounts, TaskRef, TaskState } from "./operations/read.ts";
export type { SubmitOutcome, SubmittedTask } from "./operations/submit.ts";
export type { CompiledStatement, Migration, Protocol } from "./protocol.ts";
export type { CallOptions, RetryPolicy } from "./session.ts";
export type { StoreOptions } from "./store.ts";
export { Store } from "./store.ts";
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
