import type { Executor } from "../../core/executor.ts";

/** The members that the executor of a transaction takes over from the executor that began it. */
export type ExecutorTraits = Pick<
  Executor,
  "name" | "dialect" | "protocol" | "limits" | "database" | "classify"
>;
