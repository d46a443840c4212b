/** Facilities of the platform for one invocation. */
export interface HandlerInvocation {
  /** Keeps the invocation alive for a promise, so that a drain continues after a caller hangs up. */
  readonly waitUntil?: ((promise: Promise<unknown>) => void) | undefined;
  /** When the invocation will be stopped, as a Date or epoch milliseconds. */
  readonly deadline?: Date | number | undefined;
}
