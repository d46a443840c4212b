/**
 * What an application imports from `wadi`: the two classes, task definitions, the errors, and the type of everything
 * that their methods take and return. Authors of drivers find the rest in `wadi/driver`.
 *
 * @module
 */
export type { Backoff } from "./core/backoff.ts";
export {
  AlreadyExists,
  DriverError,
  type DriverErrorOptions,
  type ErrorCode,
  EventLoopBlocked,
  InvalidArgument,
  LostLease,
  ProtocolVersionMismatch,
  QueryLimit,
  QueueFull,
  SchemaMismatch,
  ScopeMismatch,
  SerializationError,
  TaskCanceled,
  TaskError,
  type TaskErrorOptions,
  TaskFailed,
  TaskTimeout,
  Unsupported,
  WadiError,
  type WadiErrorOptions,
} from "./core/errors/errors.ts";
export type { EventLoopBlockedDetails } from "./core/errors/event-loop-blocked-message.ts";
export type { JsonForm } from "./core/json/json-form.ts";
export type { MigrateOptions } from "./core/migrations/migrate.ts";
export type { UnhandledTasks } from "./core/operations/claim-result.ts";
export type {
  CanceledTask,
  CancelOutcome,
  RetriedTask,
  RetryOutcome,
  SweepResult,
} from "./core/operations/control.ts";
export type { Pause } from "./core/operations/pause.ts";
export type { StatusCounts, TaskState } from "./core/operations/read.ts";
export type { SubmitOutcome, SubmittedTask } from "./core/operations/submit.ts";
export type { RetryPolicy } from "./core/session/retry-options.ts";
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
} from "./core/task.ts";
export type { CallOptions, SubmitCallOptions } from "./producer/call-options.ts";
export type { ClearOptions, ClearResult, DatabaseControls } from "./producer/database-controls.ts";
export {
  type AnyTaskDefinition,
  defineTask,
  type TaskDefinition,
  type TaskOptions,
  typed,
} from "./producer/define-task.ts";
export type { FleetLimits, RateLimit, TaskLimits } from "./producer/fleet-limits.ts";
export type { Hint, HintOptions } from "./producer/hint/hint.ts";
export {
  type HintObjectLike,
  hintByDurableObject,
  hintInKv,
  hintInMemory,
  type KvLike,
} from "./producer/hint/hint-stores.ts";
export type { WakeSource } from "./producer/notify/channel-connection.ts";
export type { OnFailedPayload, OnFailedTask } from "./producer/on-failed.ts";
export { defineSchedule } from "./producer/schedules/define-schedule.ts";
export type {
  Schedule,
  ScheduledTaskOptions,
  ScheduleOf,
  SchedulePayload,
  ScheduleSlot,
} from "./producer/schedules/schedule-options.ts";
export type { ScheduleState } from "./producer/schedules/schedule-state.ts";
export type { RunNowOptions, ScheduleCallOptions, Schedules } from "./producer/schedules/schedules.ts";
export type { StandardIssue, StandardResult, StandardSchemaV1 } from "./producer/standard-schema.ts";
export type { MetadataHook } from "./producer/submit/metadata.ts";
export type {
  DebounceOptions,
  SubmitEntry,
  SubmitOptions,
  ThrottleOptions,
} from "./producer/submit/submit-options.ts";
export type { TaskSubmits } from "./producer/submit/task-submits.ts";
export type { PayloadOf, ResultOf, SubmittedOf, TaskOf } from "./producer/task-types.ts";
export type { BulkFilter, BulkOptions, RetryManyOptions } from "./producer/tasks/bulk.ts";
export type { BulkResult } from "./producer/tasks/bulk-run.ts";
export type { PauseTarget, TaskPauses } from "./producer/tasks/pauses.ts";
export type { RetentionRule } from "./producer/tasks/retention-rules.ts";
export type {
  PurgeOptions,
  RetryOptions,
  SweepOptions,
  TaskControls,
} from "./producer/tasks/task-controls.ts";
export type { ListOptions, TaskReads } from "./producer/tasks/task-reads.ts";
export type { PreparedBatch, StatementBuilder } from "./producer/transactional/batch.ts";
export type { TransactionClient } from "./producer/transactional/transaction.ts";
export { Wadi } from "./producer/wadi.ts";
export type { WadiOptions } from "./producer/wadi-options.ts";
export type { SyncWadi, WadiOf } from "./producer/wadi-types.ts";
export type { TaskWaits } from "./producer/wait/task-waits.ts";
export type { CallTaskOptions, WaitOptions } from "./producer/wait/wait-options.ts";
export type { DelayingWake, Kick, Kickable, Wake, WakeFunction } from "./producer/wake/wake.ts";
export { type AlarmStorageLike, wakeByDurableObject } from "./producer/wake/wake-by-durable-object.ts";
export { type KickQueueLike, wakeByQueue } from "./producer/wake/wake-by-queue.ts";
export {
  type BindingWakeOptions,
  type FetcherLike,
  type RequestWakeOptions,
  wakeByBinding,
  wakeByFetch,
} from "./producer/wake/wake-by-request.ts";
export { type DrainerLike, wakeInProcess } from "./producer/wake/wake-in-process.ts";
export type { DrainOptions } from "./worker/drain-setup.ts";
export type { DrainSummary, SkippedTasks } from "./worker/drain-summary.ts";
export type { FailEnvelope, FailOptions } from "./worker/handler/ctx-fail.ts";
export type { HandlerOptions } from "./worker/handler/registration.ts";
export type { SettledTask } from "./worker/handler/settled-task.ts";
export type {
  ClaimTiming,
  ErrorContext,
  RunTiming,
  TaskEvent,
  WorkerEvent,
  WorkerHooks,
} from "./worker/hooks.ts";
export type { CloudflareTrigger } from "./worker/invocation-deadline.ts";
export type { Logger } from "./worker/logger.ts";
export type { Prefetch, WorkerOptions } from "./worker/options.ts";
export type { RunOptions, ServeOptions, StopOptions } from "./worker/run/lifecycle.ts";
export type { LongRunningOptions } from "./worker/run/long-running-options.ts";
export type { LastError, WorkerState, WorkerStats } from "./worker/run/stats.ts";
export type { ProcessLike, StopSignal } from "./worker/run/stop-signals.ts";
export type {
  BatchHandler,
  BatchHandlerOf,
  BatchResults,
  Handler,
  HandlerOf,
  TaskContext,
  UserStatement,
} from "./worker/task-context.ts";
export { Worker } from "./worker/worker.ts";
