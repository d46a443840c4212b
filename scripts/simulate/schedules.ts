/** Simulates days of ticks with faults, and counts the occurrences of schedules: each must run once. */

import { pickTargets } from "../../testing/targets.ts";
import { runSchedules } from "./schedules/run.ts";
import type { Simulate } from "./simulation.ts";

const DAYS = 1000;

export const simulateSchedules: Simulate = async ({ seed, size }, log) => {
  const [target] = pickTargets(["better-sqlite3-memory"]);
  const open = await target!.open();
  try {
    const connections = [open.executor, await open.connect()] as const;
    return await runSchedules({ seed, days: size ?? DAYS, connections, log });
  } finally {
    await open.close();
  }
};
