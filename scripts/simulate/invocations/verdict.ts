/** Judges the fault run by what the handlers wrote down, what the platform did and what the database's audit says. */

import { findFaults, type Move } from "../../../testing/races/audit.ts";
import type { InvocationRecord } from "./invoke.ts";
import type { Run } from "./work-log.ts";

/** The figures of the fault run. Times are sums over handler calls, in milliseconds, without those frozen. */
export interface InvocationFigures {
  readonly tasks: number;
  /** Tasks that did not succeed, or did although no handler returned. */
  readonly lost: number;
  /** Moves of tasks by an owner that did not hold them, or after its lease. */
  readonly staleSettled: number;
  readonly handlerMs: number;
  /** Work that was not stored for another reason than a kill: deadlines, lost leases, doubled ticks. */
  readonly thrownAwayMs: number;
  /** Work of killed invocations that was not stored. */
  readonly killedMs: number;
  /** What an ideal worker loses by the same kills: the time of the calls that ran at that moment. */
  readonly killedFloorMs: number;
  readonly invocations: number;
  readonly kills: number;
  readonly freezes: number;
  /** Invocations that the platform had to end at their deadline. */
  readonly overruns: number;
}

/** Compares the work of the handlers with what is stored. */
export function judge(
  tasks: readonly string[],
  runs: readonly Run[],
  records: readonly InvocationRecord[],
  moves: readonly Move[],
): InvocationFigures {
  const recordOf = new Map(records.map((record) => [record.invocation, record]));
  const stored = new Set<string>();
  for (const { became, result } of moves)
    if (became === "succeeded") stored.add(String((result as unknown as { run: string } | null)?.run));
  const done = new Set(runs.filter(({ run }) => stored.has(run)).map(({ task }) => task));
  const sums = { handlerMs: 0, thrownAwayMs: 0, killedMs: 0, killedFloorMs: 0 };
  for (const run of runs) {
    const record = recordOf.get(run.invocation)!;
    const ms = workedMs(run, record);
    sums.handlerMs += ms;
    const isKilled = record.killedAtMs !== null;
    if (isKilled && run.endedAtMs === null) sums.killedFloorMs += ms;
    if (stored.has(run.run)) continue;
    if (isKilled) sums.killedMs += ms;
    else sums.thrownAwayMs += ms;
  }
  const rounded = Object.fromEntries(Object.entries(sums).map(([name, ms]) => [name, Math.round(ms)]));
  return {
    tasks: tasks.length,
    lost: tasks.filter((task) => !done.has(task)).length,
    staleSettled: findFaults(moves, tasks).filter((fault) => !/ ended as \w+$/.test(fault)).length,
    ...(rounded as typeof sums),
    invocations: records.length,
    kills: records.filter(({ killedAtMs }) => killedAtMs !== null).length,
    freezes: records.filter(({ frozenMs }) => frozenMs !== null).length,
    overruns: records.filter(({ overranAtMs }) => overranAtMs !== null).length,
  };
}

/** How long a call worked: until it ended or its process did, without the time for which that was frozen. */
function workedMs({ startedAtMs, endedAtMs }: Run, record: InvocationRecord): number {
  const untilMs = endedAtMs ?? record.killedAtMs ?? record.overranAtMs ?? startedAtMs;
  const [fromMs, toMs] = record.frozenMs ?? [0, 0];
  const frozenMs = Math.max(0, Math.min(untilMs, toMs) - Math.max(startedAtMs, fromMs));
  return Math.max(0, untilMs - startedAtMs - frozenMs);
}

/** What the figures must not be, in words. */
export function violationsOf(figures: InvocationFigures): string[] {
  const { lost, staleSettled, handlerMs, thrownAwayMs, killedMs, killedFloorMs } = figures;
  return [
    ...(lost > 0 ? [`${lost} tasks are lost`] : []),
    ...(staleSettled > 0 ? [`${staleSettled} moves were made by an owner that did not hold the task`] : []),
    ...(thrownAwayMs >= 0.02 * handlerMs ? [`${thrownAwayMs} of ${handlerMs} ms were thrown away`] : []),
    ...(killedMs > 1.2 * killedFloorMs
      ? [`${killedMs} ms were lost by kills, of which ${killedFloorMs} ms are inevitable`]
      : []),
  ];
}
