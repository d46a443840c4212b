import type { ErrorClass, Executor } from "../src/core/executor.ts";

/** The fault of the next request: its answer is lost after the commit, or it never arrives. */
export type Loss = "after" | "before" | "busy" | null;

class Lost extends Error {
  readonly kind: ErrorClass;
  constructor(kind: ErrorClass) {
    super(`the request was lost (${kind})`);
    this.kind = kind;
  }
}

/** Wraps a real executor, injects the faults that `next` returns, and counts the requests. */
export function lossy(inner: Executor, next: (request: number) => Loss): Executor & { requests: number } {
  async function request<T>(send: () => Promise<T>): Promise<T> {
    const loss = next(++executor.requests);
    if (loss === "before") throw new Lost("unavailable");
    if (loss === "busy") throw new Lost("busy");
    const answer = await send();
    if (loss === "after") throw new Lost("unknown");
    return answer;
  }
  const executor: Executor & { requests: number } = {
    ...inner,
    requests: 0,
    run: (statement) => request(() => inner.run(statement)),
    batch: (statements) => request(() => inner.batch(statements)),
    classify: (error) => (error instanceof Lost ? error.kind : inner.classify(error)),
  };
  return executor;
}
