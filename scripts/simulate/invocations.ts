/** Runs tasks in short invocations that are killed, frozen and doubled, and counts what was lost and thrown away. */

import type { Simulate } from "./simulation.ts";

export const simulateInvocations: Simulate = async () => ({
  figures: { tasks: 0, lost: 0, staleSettled: 0, handlerMs: 0, thrownAwayMs: 0, killedMs: 0 },
  violations: ["the simulation of invocations is not written yet"],
});
