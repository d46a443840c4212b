export type { UnhandledTasks } from "../core/operations/lease.ts";
export type {
  BatchHandler,
  BatchHandlerOf,
  BatchResults,
  Handler,
  HandlerOf,
  TaskContext,
} from "./context.ts";
export type { FailEnvelope, FailOptions } from "./fail-reason.ts";
export type { ErrorScene, TaskEvent, WorkerEvent, WorkerHooks } from "./hooks.ts";
export type { SkippedTasks } from "./left-out.ts";
export type { Logger } from "./logger.ts";
export type { DrainOptions, Prefetch, WorkerOptions } from "./options.ts";
export type { OwnStatement } from "./own-statements.ts";
export type { ProcessLike } from "./process-signals.ts";
export type { HandlerOptions } from "./registration.ts";
export type { LastError, WorkerState, WorkerStats } from "./stats.ts";
export type { RunOptions, ServeOptions, StopOptions } from "./stay.ts";
export type { StayingOptions } from "./stay-options.ts";
export type { SettledTask } from "./taken.ts";
export type { DrainSummary } from "./tally.ts";
export { Worker } from "./worker.ts";
