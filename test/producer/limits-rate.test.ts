// Limits of starts in a period.

import { describe, expect, test } from "vitest";
import { Wadi } from "../../src/index.ts";
import { ManualClock } from "../../testing/memory.ts";
import { storeOf } from "../../testing/store.ts";
import { pickTargets } from "../../testing/targets.ts";
import { seededRandom } from "../../testing/task-input.ts";

const RATE = { count: 10, perMs: 1000 };
const WINDOWS = 100;

describe.each(pickTargets(["better-sqlite3-memory", "pg"]))("$name", (target) => {
  test(`${RATE.count} a second holds in every second of ${WINDOWS}, and all of it is used`, {
    timeout: 60_000,
  }, async () => {
    const open = await target.open();
    const clock = new ManualClock();
    const wadi = new Wadi(open.executor, { clock: clock.read });
    const random = seededRandom(77);
    const beganAtMs = clock.nowMs;
    const entry = { payload: 1, limits: { key: "api", rate: RATE } };
    await wadi.submitMany("call", Array<typeof entry>(RATE.count * (WINDOWS + 1)).fill(entry));
    const lanes = [{ queue: "default", name: "call", quota: 100 }];
    const starts: number[] = [];
    let isDue = true;
    for (let n = 0; clock.nowMs < beganAtMs + WINDOWS * RATE.perMs; n++) {
      const pools = [{ lanes, limit: 1 + random(6) }];
      const { tasks, nextDueAtMs } = await storeOf(wadi).claim({
        ...{ pools, workerId: `w:${n}`, leaseMs: 1e9, limited: true },
      });
      for (const _ of tasks) starts.push(clock.nowMs);
      if (isDue) expect(tasks.length).toBeGreaterThan(0);
      isDue = nextDueAtMs! > clock.nowMs && random(3) > 0;
      // When the next one is due, or at some other moment.
      if (isDue) clock.nowMs = nextDueAtMs!;
      else clock.advance(random(150));
    }
    const tooSoon = starts.filter((at, i) => at - starts[i - RATE.count]! < RATE.perMs);
    expect(tooSoon).toEqual([]);
    expect(starts.length).toBeGreaterThan(RATE.count * WINDOWS * 0.85);
    await open.close();
  });
});
