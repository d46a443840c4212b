/** The fault of one request: before it is executed, or after it has been committed. */
export interface Fault {
  when: "before" | "after";
  /** The response that is sent; "drop" closes the connection without one. */
  answer: "drop" | { status: number; body?: string };
}

/** Chooses the fault of the n-th request, counted from 1. */
export type FaultPlan = (request: number) => Fault | undefined;

/** Only the n-th request from now on fails. */
export function nth(n: number, fault: Fault): FaultPlan {
  let seen = 0;
  return () => (++seen === n ? fault : undefined);
}

/** About this share of the requests fails, the same ones for the same seed. */
export function fraction(share: number, seed: number, fault: Fault): FaultPlan {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32 < share ? fault : undefined;
  };
}
