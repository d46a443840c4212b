import type { Executor, Statement } from "../src/core/executor.ts";

/** An executor that calls `onRequest` before each request; an error that it throws refuses the request. */
export function beforeRequests(
  inner: Executor,
  onRequest: (statements: readonly Statement[]) => void,
): Executor {
  return {
    ...inner,
    async run(statement) {
      onRequest([statement]);
      return inner.run(statement);
    },
    async batch(statements, options) {
      onRequest(statements);
      return inner.batch(statements, options);
    },
  };
}
