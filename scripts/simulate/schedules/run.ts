/** Ticks through the days of the simulation with faults, and compares the tasks with what must be there. */

import type { Executor } from "../../../src/core/executor.ts";
import { Wadi, Worker } from "../../../src/index.ts";
import { lossy } from "../../../testing/lossy-executor.ts";
import { randomOf } from "../random.ts";
import type { SimulationResult } from "../simulation.ts";
import { DAY, expectedKeys, makePlan, START } from "./plan.ts";

export interface ScheduleRun {
  readonly seed: number;
  readonly days: number;
  /** Epoch milliseconds. @default the first of January 2026 */
  readonly startMs?: number;
  /** Two connections to one empty database. */
  readonly connections: readonly [Executor, Executor];
  readonly log: (line: string) => void;
}

const MINUTE = 60_000;
/** Pause between ticks on ordinary days, and on days around a change of a clock. */
const SELDOM = 180 * MINUTE;
const OFTEN = 10 * MINUTE;
const COLLECT_EVERY = 100;

export async function runSchedules(run: ScheduleRun): Promise<SimulationResult> {
  const { seed, days, startMs = START, connections, log } = run;
  const random = randomOf(seed);
  // A separate generator, so that the ticks are the same on every database, which may take another number of requests.
  const fault = randomOf(seed + 1);
  const plan = makePlan(days, startMs);
  const endMs = startMs + days * DAY;
  let nowMs = startMs;
  const clock = () => nowMs;
  const requestRetry = { tries: 20, baseMs: 0, capMs: 1 };
  const wadis = connections.map((inner) => {
    const executor = lossy(inner, () => (fault() < 0.03 ? (fault() < 0.7 ? "after" : "before") : null));
    return new Wadi(executor, { clock, requestRetry });
  });
  await new Wadi(connections[0]).migrate();
  const schedules = plan.schedules.map(({ schedule }) => schedule);
  // A new worker for each tick, as in an invocation, and one that lives on.
  const newWorker = (wadi: Wadi) =>
    new Worker(wadi, { schedules, concurrency: 200 }).task("slot", () => null);
  const resident = newWorker(wadis[1]!);
  const tick = async (ticker: number) => {
    await (ticker === 0 ? newWorker(wadis[0]!) : resident).drain({ lingerMs: 0 });
  };

  const tasksOfKey = new Map<string, Set<string>>();
  const collect = async () => {
    const rows = await connections[0].run({ sql: "select key, task_id from cairnq_task_keys", params: [] });
    for (const { key, task_id } of rows) {
      const ids = tasksOfKey.get(String(key)) ?? new Set();
      tasksOfKey.set(String(key), ids.add(String(task_id)));
    }
    // A slot whose task was purged must not come again.
    await wadis[0]!.purge({ olderThanMs: 0, limit: 100_000 });
  };

  await tick(0);
  const visits: number[] = [];
  for (let ticks = 1; nowMs < endMs; ticks++) {
    const isChange = plan.changes.some((change) => Math.abs(change - nowMs) < DAY);
    const pauseMs = isChange ? OFTEN : SELDOM;
    const isOutage = random() < 0.001;
    const delayMs = random() < 0.2 ? random() * 2 * pauseMs : random() * MINUTE;
    nowMs = Math.min(endMs, Math.floor(nowMs + pauseMs + delayMs + (isOutage ? 2 * DAY : 0)));
    if (random() < 0.15 && nowMs < endMs) continue; // the tick is dropped
    const ticker = random() < 0.5 ? 0 : 1;
    if (random() < 0.3) await Promise.all([tick(0), tick(1)]);
    else await tick(ticker);
    if (random() < 0.15) await tick(1 - ticker);
    visits.push(nowMs);
    if (ticks % COLLECT_EVERY === 0) await collect();
    if (ticks % 2000 === 0) log(`day ${Math.floor((nowMs - startMs) / DAY)} of ${days}`);
  }
  await collect();
  return verdict(
    tasksOfKey,
    plan.schedules.flatMap((one) => expectedKeys(one, visits)),
  );
}

function verdict(
  tasksOfKey: ReadonlyMap<string, ReadonlySet<string>>,
  keys: readonly string[],
): SimulationResult {
  const expected = new Set(keys);
  const missed = keys.filter((key) => !tasksOfKey.has(key));
  const twice = [...tasksOfKey].filter(([, ids]) => ids.size > 1).map(([key]) => key);
  const extra = [...tasksOfKey.keys()].filter((key) => !expected.has(key));
  const occurrences = [...tasksOfKey.values()].reduce((sum, ids) => sum + ids.size, 0);
  const some = (what: string, found: readonly string[]) =>
    found.length === 0 ? [] : [`${found.length} slots ${what}, such as ${found.slice(0, 5).join(", ")}`];
  return {
    figures: { occurrences, expected: keys.length, missed: missed.length, twice: twice.length },
    violations: [
      ...some("were missed", missed),
      ...some("were queued twice", twice),
      ...some("should have got no task", extra),
    ],
  };
}
