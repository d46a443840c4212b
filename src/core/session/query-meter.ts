import type { Executor } from "../executor.ts";

/** Counts the statements that were sent, as a platform with a limit counts them: a batch of n counts n. */
export class QueryMeter {
  sent = 0;

  count(statements: number): void {
    this.sent += statements;
  }
}

/** The executor with each statement counted; the executor itself without a meter. */
export function metered(executor: Executor, meter: QueryMeter | undefined): Executor {
  if (meter === undefined) return executor;
  return {
    name: executor.name,
    dialect: executor.dialect,
    protocol: executor.protocol,
    limits: executor.limits,
    run(statement, options) {
      meter.count(1);
      return executor.run(statement, options);
    },
    batch(statements, options) {
      meter.count(statements.length);
      return executor.batch(statements, options);
    },
    classify: (error) => executor.classify(error),
    close: () => executor.close(),
  };
}
