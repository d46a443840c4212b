/** What the platform Vercel reports about the present invocation. */

const REQUEST_CONTEXT = Symbol.for("@vercel/request-context");

/** The parts of Vercel's request context that Wadi reads. */
export interface VercelContext {
  /** Keeps the invocation alive for a promise. */
  readonly waitUntil?: ((promise: Promise<unknown>) => void) | undefined;
  /** When the invocation is stopped, as a date in text. */
  readonly deadline?: string | undefined;
}

/** The context of the present request, as `@vercel/functions` reads it; null anywhere else than on Vercel. */
export function vercelContext(): VercelContext | null {
  const provider = (globalThis as { [REQUEST_CONTEXT]?: { get?(): VercelContext | undefined } })[
    REQUEST_CONTEXT
  ];
  return provider?.get?.() ?? null;
}
