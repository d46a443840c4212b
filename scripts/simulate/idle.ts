/** Simulates a month of ticks while nothing is due, and counts the requests to the database. */

import { type Hint, hintInKv, hintInMemory } from "../../src/index.ts";
import type { TargetName } from "../../testing/target.ts";
import { pickTargets } from "../../testing/targets.ts";
import { type IdleMonth, MINUTE_MS, MONTH_TICKS, runIdleMonth } from "./idle/month.ts";
import { openKv } from "./idle/workerd-kv.ts";
import type { Simulate } from "./simulation.ts";

const MAX_AGE_TICKS = 60;
const maxAgeMs = MAX_AGE_TICKS * MINUTE_MS;

/**
 * With a hint on three databases, one of them with a real KV namespace, and without one in this process. The figures
 * are those of the month with a hint in this process.
 */
export const simulateIdle: Simulate = async ({ size }, log) => {
  const ticks = size ?? MONTH_TICKS;
  const violations: string[] = [];
  const run = async (name: TargetName, where: string, hint: Hint | undefined) => {
    const open = await pickTargets([name])[0]!.open();
    try {
      const month = await runIdleMonth(open, hint, ticks);
      const rows =
        month.rowsRead === null ? "" : `, ${month.rowsRead} rows read, ${month.rowsWritten} written`;
      log(`${name}, ${where}: ${month.databaseRequests} requests in ${month.ticks} ticks${rows}`);
      violations.push(...violationsOf(month, hint !== undefined).map((what) => `${name}, ${where}: ${what}`));
      return month;
    } finally {
      await open.close();
    }
  };
  await run("better-sqlite3-memory", "no hint", undefined);
  const { databaseRequests } = await run(
    "better-sqlite3-memory",
    "hint in memory",
    hintInMemory({ maxAgeMs }),
  );
  await run("libsql-http", "hint in memory", hintInMemory({ maxAgeMs }));
  const kv = await openKv();
  try {
    await run("d1", "hint in KV", hintInKv(kv.namespace, "wadi", { maxAgeMs }));
  } finally {
    await kv.close();
  }
  return { figures: { ticks, databaseRequests }, violations };
};

/** What must not have happened in a month with or without a hint. */
export function violationsOf(month: IdleMonth, hasHint: boolean): string[] {
  const { ticks, databaseRequests, rowsWritten, mostOfATick, leastGap } = month;
  const most = hasHint ? Math.ceil(ticks / MAX_AGE_TICKS) : ticks;
  return [
    ...(mostOfATick > 1 ? [`a tick made ${mostOfATick} round trips`] : []),
    ...(databaseRequests > most ? [`${databaseRequests} requests are more than ${most}`] : []),
    ...(hasHint && leastGap < MAX_AGE_TICKS ? [`a tick asked ${leastGap} ticks after another`] : []),
    ...((rowsWritten ?? 0) > 0 ? [`${rowsWritten} rows were written`] : []),
  ];
}
