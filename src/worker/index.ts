export type { Handler, TaskContext } from "./context.ts";
export type { DrainSummary } from "./drain.ts";
export type { ErrorScene, TaskEvent, WorkerEvent, WorkerHooks } from "./hooks.ts";
export { type DrainOptions, type HandlerOptions, Worker, type WorkerOptions } from "./worker.ts";
