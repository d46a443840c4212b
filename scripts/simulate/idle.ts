/** Simulates a month of ticks while nothing is due, and counts the requests to the database. */

import type { Simulate } from "./simulation.ts";

export const simulateIdle: Simulate = async () => ({
  figures: { ticks: 0, databaseRequests: 0 },
  violations: ["the simulation of idle ticks is not written yet"],
});
