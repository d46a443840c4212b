// Decides from the database's record whether every accepted task ended exactly once.

import { findFaults, type Move } from "../../testing/races/audit.ts";

export interface Verdict {
  readonly submitted: number;
  readonly succeeded: number;
  /** Accepted, and not succeeded at the end. */
  readonly lost: number;
  /** Tasks that ended more than once. */
  readonly settledTwice: number;
  /** Other impossible or missing changes of state, in words; at most ten. */
  readonly problems: readonly string[];
}

const MAX_PROBLEMS = 10;

/** Checks the record of the database against the tasks that submits have returned, and checks every task it names. */
export function verdictOf(accepted: Iterable<string>, moves: readonly Move[]): Verdict {
  const ends = new Map<string, number>();
  for (const { task, became } of moves) {
    if (["succeeded", "failed", "canceled"].includes(became)) ends.set(task, (ends.get(task) ?? 0) + 1);
  }
  const succeeded = new Set(moves.flatMap(({ task, became }) => (became === "succeeded" ? [task] : [])));
  const submitted = new Set(accepted);
  const lost = [...submitted].filter((task) => !succeeded.has(task)).length;
  const known = new Set([...submitted, ...moves.map(({ task }) => task)]);
  return {
    submitted: submitted.size,
    succeeded: submitted.size - lost,
    lost,
    settledTwice: [...ends.values()].filter((times) => times > 1).length,
    problems: findFaults(moves, [...known]).slice(0, MAX_PROBLEMS),
  };
}
