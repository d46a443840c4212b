// An executor that refuses chosen statements with a class of error.

import type { ErrorClass, Executor } from "../src/core/executor.ts";
import { beforeRequests } from "./before-requests.ts";

class Refused extends Error {
  readonly kind: ErrorClass;
  constructor(kind: ErrorClass) {
    super(`the database refused it (${kind})`);
    this.kind = kind;
  }
}

/**
 * Wraps a real executor. A request with a statement for which `which` returns a class of error is not sent, and fails.
 */
export function refusing(inner: Executor, which: (sql: string) => ErrorClass | null): Executor {
  const checked = beforeRequests(inner, (statements) => {
    for (const { sql } of statements) {
      const kind = which(sql);
      if (kind !== null) throw new Refused(kind);
    }
  });
  return {
    ...checked,
    classify: (error) => (error instanceof Refused ? error.kind : inner.classify(error)),
  };
}
