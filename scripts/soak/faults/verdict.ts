import type { Executor } from "../../../src/driver.ts";
import { type Fault, KINDS, type Kind } from "./kinds.ts";
import type { Run, RunResult } from "./ledger.ts";
import type { Side } from "./side.ts";

/** The result in the line of JSON. */
export interface FaultsResult {
  /** Tasks whose submit was answered. */
  readonly submitted: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Submitted tasks that did not end, or succeeded although no handler returned. */
  readonly lost: number;
  /** Tasks that a call of the handler settled after it had lost its lease to a later call. */
  readonly settledTwice: number;
  /** Failed or canceled, although their handlers always succeed. */
  readonly goodFailed: number;
  readonly faults: Readonly<Record<Kind, number>>;
  /** Longest time from the end of a fault until the worker it hit finished a task again. */
  readonly slowestRecoveryMs: number;
}

/** The state of a task in the database at the end. */
export interface Ending {
  readonly status: string;
  /** The call of the handler whose result is stored. */
  readonly run: string | null;
  /** The code of its error. */
  readonly error?: string | null;
}

type Judged = Omit<FaultsResult, "faults" | "slowestRecoveryMs">;

/** Compares the ledger of the handlers of a side with the rows of its tasks. */
export function judge(
  accepted: Side["accepted"],
  endings: ReadonlyMap<string, Ending>,
  runs: readonly Run[],
): Judged {
  const runsOf = Map.groupBy(runs, ({ id }) => id);
  const counts = { submitted: 0, succeeded: 0, failed: 0, lost: 0, settledTwice: 0, goodFailed: 0 };
  for (const { id, poison } of accepted) {
    counts.submitted++;
    const { status = "missing", run = null } = endings.get(id) ?? {};
    const own = runsOf.get(id) ?? [];
    if (status === "succeeded") {
      counts.succeeded++;
      const settled = own.find((each) => each.run === run);
      if (settled === undefined || settled.doneAtMs === null) counts.lost++;
      // A call that lost its lease may still be running, so only later calls count.
      else if (own.some(({ attempt }) => attempt > settled.attempt)) counts.settledTwice++;
    } else if (status === "failed" || status === "canceled") {
      counts.failed++;
      if (!poison) counts.goodFailed++;
    } else counts.lost++;
  }
  return counts;
}

/** Why good tasks failed, and how often their handlers began and returned, in words. */
export function explainFailures(
  accepted: Side["accepted"],
  endings: ReadonlyMap<string, Ending>,
  runs: readonly Run[],
): string[] {
  const runsOf = Map.groupBy(runs, ({ id }) => id);
  const causes = accepted.flatMap(({ id, poison }) => {
    const { status, error } = endings.get(id) ?? {};
    if (poison || (status !== "failed" && status !== "canceled")) return [];
    const own = runsOf.get(id) ?? [];
    const done = own.filter(({ doneAtMs }) => doneAtMs !== null).length;
    return [`${error}, begun ${own.length} times, done ${done} times`];
  });
  return [...Map.groupBy(causes, (cause) => cause)].map(([cause, { length }]) => `${length} x ${cause}`);
}

/** Sums the verdicts of all sides. */
export function total(verdicts: readonly Judged[]): Judged {
  const sum = (field: keyof Judged) => verdicts.reduce((all, verdict) => all + verdict[field], 0);
  return {
    submitted: sum("submitted"),
    succeeded: sum("succeeded"),
    failed: sum("failed"),
    lost: sum("lost"),
    settledTwice: sum("settledTwice"),
    goodFailed: sum("goodFailed"),
  };
}

/**
 * How long the workers took to finish a task after faults that hit them, at most, while tasks were submitted. Of
 * several faults before that the last one counts. A worker that a poisonous task takes down does not recover, another
 * one takes its place.
 */
export function slowestRecovery(
  runs: readonly Run[],
  faults: readonly Fault[],
  untilMs: number,
): { readonly ms: number; readonly worker: string; readonly kind: Kind } | null {
  const relevant = faults.filter(({ kind }) => kind !== "poison" && kind !== "queryLimit");
  let slowest: ReturnType<typeof slowestRecovery> = null;
  for (const [worker, own] of Map.groupBy(runs, (run) => run.worker)) {
    const side = worker.split("-")[0]!;
    const dones = own.flatMap(({ doneAtMs }) => (doneAtMs === null ? [] : [doneAtMs])).sort((a, b) => a - b);
    const hits = relevant
      .filter((fault) => fault.worker === worker || (fault.worker === null && side === "postgres"))
      .sort((a, b) => a.overAtMs - b.overAtMs);
    for (const [n, { kind, overAtMs }] of hits.entries()) {
      if (overAtMs >= untilMs) break;
      // Later there may be no task for it.
      const doneAtMs = Math.min(dones.find((atMs) => atMs >= overAtMs) ?? untilMs, untilMs);
      if (hits.slice(n + 1).some(({ atMs }) => atMs < doneAtMs)) continue; // the last of them counts, or is not over
      const ms = Math.max(0, doneAtMs - overAtMs);
      if (slowest === null || ms > slowest.ms) slowest = { ms, worker, kind };
    }
  }
  return slowest;
}

const PAGE = 2000;

/** The states of all tasks of a database. */
export async function readEndings(executor: Executor): Promise<Map<string, Ending>> {
  const endings = new Map<string, Ending>();
  const mark = executor.dialect === "postgres" ? "$1" : "?";
  const text = executor.dialect === "postgres" ? "result::text" : "result";
  const sql = `select id, status, ${text} as result, error->>'code' as error from cairnq_tasks
    where id > ${mark} order by id limit ${PAGE}`;
  for (let last = ""; ; ) {
    const rows = await executor.run({ sql, params: [last] });
    for (const { id, status, result, error } of rows) {
      const run = result === null ? null : ((JSON.parse(String(result)) as RunResult | null)?.run ?? null);
      endings.set(String(id), { status: String(status), run, error: error as string | null });
    }
    if (rows.length < PAGE) return endings;
    last = String(rows.at(-1)!.id);
  }
}

/** Kinds of fault that happened too seldom to prove anything, in words. */
export function tooFew(counts: Readonly<Record<Kind, number>>, minutes: number): string[] {
  const least = Math.max(1, Math.floor(minutes) * 20);
  return KINDS.filter((kind) => counts[kind] < least).map(
    (kind) => `only ${counts[kind]} of ${kind}, ${least} were to be`,
  );
}
