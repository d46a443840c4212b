/** An executor for the requests of one call: they share an abort, and a meter counts them. */
import type { Executor } from "../executor.ts";
import type { QueryMeter } from "./query-meter.ts";
import type { RequestAbort } from "./request-abort.ts";

export function meteredExecutor(executor: Executor, abort: RequestAbort, meter?: QueryMeter): Executor {
  return {
    name: executor.name,
    dialect: executor.dialect,
    protocol: executor.protocol,
    limits: executor.limits,
    run(statement) {
      meter?.count(1);
      return executor.run(statement, abort);
    },
    batch(statements) {
      meter?.count(statements.length);
      return executor.batch(statements, abort);
    },
    classify: (error) => executor.classify(error),
    close: () => executor.close(),
  };
}
