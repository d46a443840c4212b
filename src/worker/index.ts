export type { BatchHandler, BatchResults, Handler, TaskContext } from "./context.ts";
export type { ErrorScene, TaskEvent, WorkerEvent, WorkerHooks } from "./hooks.ts";
export type { DrainOptions, Prefetch, WorkerOptions } from "./options.ts";
export type { HandlerOptions } from "./registration.ts";
export type { DrainSummary } from "./tally.ts";
export { Worker } from "./worker.ts";
