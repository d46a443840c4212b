/** The simulations of `npm run simulate`, by name. Each loads when it is asked for. */

import type { Simulate } from "./simulation.ts";

export const SIMULATIONS = {
  schedules: async () => (await import("./schedules.ts")).simulateSchedules,
  invocations: async () => (await import("./invocations.ts")).simulateInvocations,
  idle: async () => (await import("./idle.ts")).simulateIdle,
} satisfies Record<string, () => Promise<Simulate>>;

export type SimulationName = keyof typeof SIMULATIONS;
