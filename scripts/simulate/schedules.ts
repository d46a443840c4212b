/** Simulates days of ticks with faults, and counts the occurrences of schedules: each must run once. */

import type { Simulate } from "./simulation.ts";

export const simulateSchedules: Simulate = async () => ({
  figures: { occurrences: 0, expected: 0, missed: 0, twice: 0 },
  violations: ["the simulation of schedules is not written yet"],
});
