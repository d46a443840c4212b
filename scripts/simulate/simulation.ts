/** The contract of a simulation of `npm run simulate`. */

/** What a simulation is to do. */
export interface SimulationPlan {
  /** All that is random is drawn from it. */
  readonly seed: number;
  /** How many tasks, days or ticks; null: as many as the simulation has by default. */
  readonly size: number | null;
}

export interface SimulationResult {
  /** What was counted, in the order in which it is printed. */
  readonly figures: Readonly<Record<string, number>>;
  /** What must not have happened, one sentence each. */
  readonly violations: readonly string[];
}

/** Runs a simulation. `log` takes lines about its progress. */
export type Simulate = (plan: SimulationPlan, log: (line: string) => void) => Promise<SimulationResult>;
