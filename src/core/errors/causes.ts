/** Finds the errors behind an error. */

/** The cause of an error, which the Neon driver calls `sourceError`. */
export function causeOf(error: object): unknown {
  const { cause, sourceError } = error as { cause?: unknown; sourceError?: unknown };
  return cause ?? sourceError;
}

/** An error and its causes, outermost first. */
export function causeChain(error: unknown): { readonly message?: unknown }[] {
  const chain: object[] = [];
  let current = error;
  while (typeof current === "object" && current !== null && !chain.includes(current)) {
    chain.push(current);
    current = causeOf(current);
  }
  return chain;
}
