// Runs all sides of the soak with faults at once, and judges them together.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openD1Side } from "./d1-side.ts";
import { FaultLog } from "./kinds.ts";
import { Ledger } from "./ledger.ts";
import { openNeonSide } from "./neon-side.ts";
import { openPoisonSide } from "./poison-side.ts";
import { openPostgresSide } from "./postgres-side.ts";
import type { OpenSide, Scene, Side } from "./side.ts";
import {
  explainFailures,
  type FaultsResult,
  judge,
  readEndings,
  slowestRecovery,
  tooFew,
  total,
} from "./verdict.ts";

export interface FaultsPlan {
  readonly minutes: number;
  /** Tasks a second that are submitted to each side; more to D1, whose invocations must meet their limit. */
  readonly tasksPerSecond: number;
}

export interface FaultsOutcome {
  readonly result: FaultsResult;
  /** Violations, in words; a good run has none. */
  readonly violations: readonly string[];
}

const SIDES: readonly OpenSide[] = [openPostgresSide, openNeonSide, openPoisonSide, openD1Side];
/** Workers start before the first fault. */
const WARM_UP_MS = 1500;
/** The longest time without a finished task after the last submit. */
const FINISH_MS = 60_000;

/** Works on four databases under faults for some minutes, and judges by what the handlers themselves wrote down. */
export async function soakWithFaults(
  { minutes, tasksPerSecond }: FaultsPlan,
  say: (text: string) => void,
): Promise<FaultsOutcome> {
  const folder = mkdtempSync(join(tmpdir(), "wadi-faults-"));
  const recovered = new Map<string, number>();
  const violations: string[] = [];
  const scene: Scene = {
    log: new FaultLog(),
    ledger: new Ledger(join(folder, "ledger")),
    folder,
    ended: (what) => violations.push(what.slice(0, 500)),
    recovered(what) {
      const short = what.replace(/[0-9a-f-]{20,}/gi, "…").slice(0, 160);
      recovered.set(short, (recovered.get(short) ?? 0) + 1);
    },
  };
  const sides: Side[] = [];
  try {
    for (const open of SIDES) sides.push(await open(scene, tasksPerSecond));
    await sleep(WARM_UP_MS);
    const ended = AbortSignal.timeout(minutes * 60_000);
    const untilMs = Date.now() + minutes * 60_000; // the last submits may take longer
    const report = setInterval(() => say(`${JSON.stringify(scene.log.counts)}`), 10_000);
    await Promise.all(sides.map((side) => side.work(ended))).finally(() => clearInterval(report));
    violations.push(...(await Promise.all(sides.map(finish))).flat());
    const runs = scene.ledger.read();
    const verdicts = [];
    for (const side of sides) {
      const endings = await readEndings(side.direct);
      const verdict = judge(side.accepted, endings, runs);
      for (const cause of explainFailures(side.accepted, endings, runs)) say(`${side.name}: failed ${cause}`);
      verdicts.push(verdict);
      say(`${side.name}: ${JSON.stringify(verdict)}`);
      for (const field of ["lost", "settledTwice", "goodFailed"] as const) {
        if (verdict[field] > 0) violations.push(`${side.name}: ${verdict[field]} ${field}`);
      }
      const slow = slowestRecovery(
        runs.filter(({ worker }) => worker.startsWith(side.name)),
        scene.log.faults,
        untilMs,
      );
      if (slow !== null && slow.ms > side.leaseMs) {
        violations.push(
          `${slow.worker} took ${slow.ms} ms after ${slow.kind}, longer than its lease of ${side.leaseMs}`,
        );
      }
    }
    for (const [what, count] of recovered) say(`recovered from ${count} x ${what}`);
    const { counts, faults } = scene.log;
    violations.push(...tooFew(counts, minutes));
    const slowestRecoveryMs = slowestRecovery(runs, faults, untilMs)?.ms ?? 0;
    return { result: { ...total(verdicts), faults: counts, slowestRecoveryMs }, violations };
  } finally {
    for (const side of sides) await side.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Waits until nothing is queued or running; says so if nothing changes any more. */
async function finish({ direct, name }: Side): Promise<string[]> {
  const sql = "select count(*) as n from cairnq_tasks where status in ('queued', 'running')";
  let least = Number.POSITIVE_INFINITY;
  for (let endMs = 0; ; ) {
    const [row] = await direct.run({ sql, params: [] });
    const open = Number(row!.n);
    if (open === 0) return [];
    if (open < least) endMs = Date.now() + FINISH_MS;
    least = Math.min(least, open);
    if (Date.now() > endMs)
      return [`${name}: ${open} tasks were not done ${FINISH_MS / 1000} s after the last one`];
    await sleep(200);
  }
}
