/** Finds the errors behind an error. Anything can be thrown, so reading a property of it may throw too. */

/** A property of anything; undefined if reading it throws. */
export function readProperty(value: object, key: string): unknown {
  try {
    return (value as Record<string, unknown>)[key];
  } catch {
    return undefined;
  }
}

/** The cause of an error, which the Neon driver calls `sourceError`. */
export function causeOf(error: object): unknown {
  return readProperty(error, "cause") ?? readProperty(error, "sourceError");
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
