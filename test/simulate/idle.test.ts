// A small part of the idle month of `npm run simulate -- idle`, and how it judges.

import { expect, test } from "vitest";
import { MINUTE_MS, runIdleMonth } from "../../scripts/simulate/idle/month.ts";
import { openKv } from "../../scripts/simulate/idle/workerd-kv.ts";
import { violationsOf } from "../../scripts/simulate/idle.ts";
import { type Hint, hintInKv, hintInMemory } from "../../src/index.ts";
import type { TargetName } from "../../testing/target.ts";
import { pickTargets } from "../../testing/targets.ts";

const HOURS = 3;
const maxAgeMs = 60 * MINUTE_MS;

async function month(name: TargetName, hint: Hint | undefined) {
  const open = await pickTargets([name])[0]!.open();
  try {
    return await runIdleMonth(open, hint, HOURS * 60);
  } finally {
    await open.close();
  }
}

test.each(["better-sqlite3-memory", "libsql-http", "d1"] as const)(
  "on %s an idle tick is one round trip without a hint, and writes nothing",
  async (name) => {
    const idle = await month(name, undefined);
    expect(idle).toMatchObject({ databaseRequests: HOURS * 60, mostOfATick: 1 });
    expect(idle.rowsWritten ?? 0).toBe(0);
    expect(violationsOf(idle, false)).toEqual([]);
    expect(violationsOf(idle, true)).toHaveLength(2);
  },
);

test.each(["better-sqlite3-memory", "libsql-http"] as const)(
  "on %s with a hint one in maxAgeMs, and none in between",
  async (name) => {
    const idle = await month(name, hintInMemory({ maxAgeMs }));
    expect(idle).toMatchObject({ databaseRequests: HOURS, mostOfATick: 1, leastGap: 60 });
    expect(violationsOf(idle, true)).toEqual([]);
  },
);

test("on D1 with a hint in KV, in workerd", async () => {
  const { namespace, close } = await openKv();
  try {
    const idle = await month("d1", hintInKv(namespace, "wadi", { maxAgeMs }));
    expect(idle).toMatchObject({ databaseRequests: HOURS, leastGap: 60, rowsWritten: 0 });
    expect(violationsOf(idle, true)).toEqual([]);
  } finally {
    await close();
  }
});

test("rows that are written, and more requests than one in maxAgeMs, are violations", () => {
  const good = {
    ...{ ticks: 120, databaseRequests: 2, rowsRead: 100, rowsWritten: 0 },
    ...{ mostOfATick: 1, leastGap: 60 },
  };
  expect(violationsOf(good, true)).toEqual([]);
  for (const bad of [{ rowsWritten: 1 }, { databaseRequests: 3 }, { mostOfATick: 2 }, { leastGap: 59 }])
    expect(violationsOf({ ...good, ...bad }, true)).toHaveLength(1);
});
