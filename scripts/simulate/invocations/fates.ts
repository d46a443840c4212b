/** Draws from the seed what happens to each invocation and each request of the fault run. */

import { randomOf } from "../random.ts";

/** How often a fault hits: one invocation in so many. */
export interface FaultRates {
  readonly killEvery: number;
  readonly freezeEvery: number;
  readonly doubleEvery: number;
  /** One request in so many loses its response after the commit. */
  readonly loseEvery: number;
}

export const RATES: FaultRates = { killEvery: 20, freezeEvery: 50, doubleEvery: 10, loseEvery: 50 };

/** What happens to one invocation. Times count from its start. */
export interface Fate {
  /** When its process is killed; null: it is not. */
  readonly killAfterMs: number | null;
  /** When its process is frozen; null: it is not. */
  readonly freezeAfterMs: number | null;
  /** Whether its tick arrives twice. */
  readonly isDoubled: boolean;
}

/** The fate of invocation `n`: of each `killEvery` invocations in a row exactly one is killed, and so on. */
export function fateOf(seed: number, n: number, invocationMs: number, rates: FaultRates): Fate {
  const hit = (kind: number, every: number): number | null => {
    const random = randomOf(seed * 1_000_003 + kind * 50_021 + Math.floor(n / every));
    return Math.floor(random() * every) === n % every ? random() : null;
  };
  const kill = hit(1, rates.killEvery);
  const freeze = hit(2, rates.freezeEvery);
  return {
    killAfterMs: kill === null ? null : kill * invocationMs,
    freezeAfterMs: freeze === null || kill !== null ? null : freeze * invocationMs * 0.8,
    isDoubled: hit(3, rates.doubleEvery) !== null,
  };
}

/** Says for each request of a process whether its response is lost. */
export function lossesOf(seed: number, container: number, { loseEvery }: FaultRates): () => boolean {
  const random = randomOf(seed * 1_000_003 + 7 + container * 104_729);
  return () => random() * loseEvery < 1;
}

/** How long the handler of task `n` works, in milliseconds: from 5 to 400. */
export function workMsOf(seed: number, n: number): number {
  return 5 + Math.floor(randomOf(seed * 1_000_003 + 13 + n * 15_485_863)() * 396);
}
