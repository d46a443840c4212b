import type { Attempt } from "../handler/attempt.ts";
import { laneKey } from "../handler/registration.ts";

/** Keys of one lane that a claim can be told of. */
const MOST_KEYS = 200;

/** Those that were served since every other one that had tasks was. */
class Round {
  served = new Set<string>();

  took(some: ReadonlySet<string>): void {
    const isOver = [...some].some((one) => this.served.has(one)) || this.served.size > MOST_KEYS;
    this.served = isOver ? new Set(some) : new Set([...this.served, ...some]);
  }
}

/** Whose turn it is among names, and among the tenants of a name, where few slots are free at a time. */
export class Rotation {
  readonly #lanes = new Round();
  readonly #keys = new Map<string, Round>();

  /** Takes in what a claim brought. */
  took(attempts: readonly Attempt[]): void {
    if (attempts.length === 0) return;
    const keys = new Map<string, Set<string>>();
    for (const { task, limitKey } of attempts) {
      const lane = laneKey(task);
      const ofLane = keys.get(lane) ?? new Set();
      if (limitKey !== "") ofLane.add(limitKey);
      keys.set(lane, ofLane);
    }
    this.#lanes.took(new Set(keys.keys()));
    for (const [lane, some] of keys) {
      if (some.size === 0) continue;
      const round = this.#keys.get(lane) ?? new Round();
      round.took(some);
      this.#keys.set(lane, round);
    }
  }

  /** What a lane's rank is more by: 1 if it was served in this round. */
  handicap(lane: string): number {
    return Number(this.#lanes.served.has(lane));
  }

  /** The tenants of a lane that were served in this round. */
  served(lane: string): string[] {
    return [...(this.#keys.get(lane)?.served ?? [])];
  }
}
