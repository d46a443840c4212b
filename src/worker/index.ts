export type { UnhandledTasks } from "../core/operations/claim-result.ts";
export type { DrainSummary, SkippedTasks } from "./drain-summary.ts";
export type { FailEnvelope, FailOptions } from "./handler/fail-reason.ts";
export type { HandlerOptions } from "./handler/registration.ts";
export type { SettledTask } from "./handler/settlement-result.ts";
export type { ErrorContext, TaskEvent, WorkerEvent, WorkerHooks } from "./hooks.ts";
export type { Logger } from "./logger.ts";
export type { DrainOptions, Prefetch, WorkerOptions } from "./options.ts";
export type { RunOptions, ServeOptions, StopOptions } from "./run/lifecycle.ts";
export type { LongRunningOptions } from "./run/run-options.ts";
export type { LastError, WorkerState, WorkerStats } from "./run/stats.ts";
export type { ProcessLike } from "./run/stop-signals.ts";
export type {
  BatchHandler,
  BatchHandlerOf,
  BatchResults,
  Handler,
  HandlerOf,
  TaskContext,
  UserStatement,
} from "./task-context.ts";
export { Worker } from "./worker.ts";
