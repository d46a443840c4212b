export type { UnhandledTasks } from "../core/operations/lease.ts";
export type { SkippedTasks } from "./drain/skipped-tasks.ts";
export type { DrainSummary } from "./drain/tally.ts";
export type {
  BatchHandler,
  BatchHandlerOf,
  BatchResults,
  Handler,
  HandlerOf,
  TaskContext,
} from "./handler/attempt-context.ts";
export type { FailEnvelope, FailOptions } from "./handler/fail-reason.ts";
export type { HandlerOptions } from "./handler/registration.ts";
export type { SettledTask } from "./handler/settlement-result.ts";
export type { UserStatement } from "./handler/user-statements.ts";
export type { ErrorContext, TaskEvent, WorkerEvent, WorkerHooks } from "./hooks.ts";
export type { Logger } from "./logger.ts";
export type { DrainOptions, Prefetch, WorkerOptions } from "./options.ts";
export type { RunOptions, ServeOptions, StopOptions } from "./run/lifecycle.ts";
export type { LongRunningOptions } from "./run/run-options.ts";
export type { LastError, WorkerState, WorkerStats } from "./run/stats.ts";
export type { ProcessLike } from "./run/stop-signals.ts";
export { Worker } from "./worker.ts";
