import { findFaults, type Move } from "../../testing/races/audit.ts";

export interface Verdict {
  readonly submitted: number;
  readonly succeeded: number;
  /** Accepted, and not succeeded at the end. */
  readonly lost: number;
  /** Tasks that ended more than once. */
  readonly settledTwice: number;
  /** The first of what else is wrong with the lives of tasks, in words. */
  readonly faults: readonly string[];
}

const MAX_FAULTS = 10;

/** What the database's own record says of the tasks that producers were told of, and of all others it names. */
export function verdictOf(accepted: Iterable<string>, moves: readonly Move[]): Verdict {
  const ends = new Map<string, number>();
  for (const { task, became } of moves) {
    if (["succeeded", "failed", "canceled"].includes(became)) ends.set(task, (ends.get(task) ?? 0) + 1);
  }
  const succeeded = new Set(moves.flatMap(({ task, became }) => (became === "succeeded" ? [task] : [])));
  const told = new Set(accepted);
  const lost = [...told].filter((task) => !succeeded.has(task)).length;
  const known = new Set([...told, ...moves.map(({ task }) => task)]);
  return {
    submitted: told.size,
    succeeded: told.size - lost,
    lost,
    settledTwice: [...ends.values()].filter((times) => times > 1).length,
    faults: findFaults(moves, [...known]).slice(0, MAX_FAULTS),
  };
}
