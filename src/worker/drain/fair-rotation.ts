import type { Attempt } from "../handler/attempt.ts";
import { laneKey } from "../handler/registration.ts";

/** Most limit keys of one lane that a claim names as served. */
const MAX_KEYS = 200;

/** A round: it ends once one is served again, and then the next begins. */
class Round {
  #served: ReadonlySet<string> = new Set();

  get served(): ReadonlySet<string> {
    return this.#served;
  }

  serve(keys: ReadonlySet<string>): void {
    const isOver = [...keys].some((key) => this.#served.has(key)) || this.#served.size > MAX_KEYS;
    this.#served = isOver || this.#served.size === 0 ? keys : new Set([...this.#served, ...keys]);
  }
}

/**
 * Remembers which names, and which tenants (limit keys) of a name, were served in the current round. A claim prefers
 * the others, so that all take turns where few slots become free at a time.
 */
export class FairRotation {
  readonly #lanes = new Round();
  readonly #keysByLane = new Map<string, Round>();

  /** Notes the tasks that a claim brought. */
  serve(attempts: readonly Attempt[]): void {
    if (attempts.length === 0) return;
    const served = new Map<string, Set<string>>();
    for (const { task, limitKey } of attempts) {
      const lane = laneKey(task);
      const keys = served.get(lane) ?? new Set();
      if (limitKey !== "") keys.add(limitKey);
      served.set(lane, keys);
    }
    this.#lanes.serve(new Set(served.keys()));
    for (const [lane, keys] of served) {
      if (keys.size === 0) continue;
      const round = this.#keysByLane.get(lane) ?? new Round();
      round.serve(keys);
      this.#keysByLane.set(lane, round);
    }
  }

  /** What is added to the rank of a lane: 1 if it was served in this round. */
  rankPenalty(lane: string): number {
    return Number(this.#lanes.served.has(lane));
  }

  /** The limit keys of a lane that were served in this round. */
  servedKeys(lane: string): string[] {
    return [...(this.#keysByLane.get(lane)?.served ?? [])];
  }
}
