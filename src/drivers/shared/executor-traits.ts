import type { Executor } from "../../core/executor.ts";

/** The members of an executor that hold for an executor of one of its transactions too. */
export type ExecutorTraits = Pick<
  Executor,
  "name" | "dialect" | "protocol" | "limits" | "database" | "classify"
>;
