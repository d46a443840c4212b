// The messages between a soak and its processes.
import type { DiskOrder } from "./engines.ts";

export interface ServeJob {
  readonly name: string;
  readonly leaseMs: number;
  readonly concurrency: number;
  /** Terminal tasks are deleted after this time. */
  readonly keepMs: number;
}

export interface ProduceJob {
  readonly tasksPerSecond: number;
  /** How many keys the submits use, so that several producers use the same ones. */
  readonly keys: number;
}

/** What the parent asks of a process. */
export type Order = { serve: ServeJob } | { produce: ProduceJob } | DiskOrder | "sample" | "stop";

export interface Sample {
  readonly heapUsed: number;
  readonly rss: number;
}

/** What a process reports to its parent. */
export type Report =
  | { accepted: string[] }
  /** A submit that failed, or an error a worker recovered from, in a few words. */
  | { failure: string }
  | { sample: Sample }
  | { ready: true };

export const SOAK_TASK = "soak";
