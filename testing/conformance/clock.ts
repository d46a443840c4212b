/** A clock that stands still until it is moved, so that no scenario depends on the speed of a database. */
export interface MovableClock {
  now(): number;
  advance(ms: number): void;
}

export function movableClock(startMs: number = Date.now()): MovableClock {
  let nowMs = startMs;
  return {
    now: () => nowMs,
    advance(ms) {
      nowMs += ms;
    },
  };
}
