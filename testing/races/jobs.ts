import {
  type AlreadyExists,
  type ConflictPolicy,
  type DrainSummary,
  type SubmittedTask,
  type TaskContext,
  type Wadi,
  WadiError,
  Worker,
} from "../../src/index.ts";
import { runLimited } from "./limited-jobs.ts";
import { TASK } from "./task-name.ts";
import { commitOwnRows } from "./transactional-job.ts";
import { submitAndWake } from "./wake-job.ts";

/** The jobs of a racer on its connection, in any runtime; arguments and results are JSON. */
export const jobs = { submit, submitKeys, drain, commitOwnRows, runLimited, submitAndWake };

export type JobName = keyof typeof jobs;
export type JobArgs<Name extends JobName> = Parameters<(typeof jobs)[Name]>[1];
export type JobResult<Name extends JobName> = Awaited<ReturnType<(typeof jobs)[Name]>>;

/** A racer with a dedicated connection, which runs one job at a time. */
export interface Racer {
  run<Name extends JobName>(job: Name, args: JobArgs<Name>): Promise<JobResult<Name>>;
  close(): Promise<void>;
}

export function runJob(wadi: Wadi, job: JobName, args: unknown): Promise<unknown> {
  return (jobs[job] as (wadi: Wadi, args: unknown) => Promise<unknown>)(wadi, args);
}

export { TASK };

/** Submits tasks without a key, one after the other, and returns their ids. */
async function submit(wadi: Wadi, { tasks }: { tasks: number }): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < tasks; n++) ids.push((await wadi.submit(TASK, n)).id);
  return ids;
}

/** The answer of a keyed submit. */
export interface KeyedAnswer {
  readonly outcome: SubmittedTask["outcome"];
  readonly id: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
}

/** Submits a task for each key, one after the other. */
async function submitKeys(
  wadi: Wadi,
  { name, keys, conflict }: { name: string; keys: readonly string[]; conflict: ConflictPolicy },
): Promise<KeyedAnswer[]> {
  const answers: KeyedAnswer[] = [];
  for (const key of keys) {
    const startedAtMs = Date.now();
    const { outcome, id } = await answerOf(wadi.submit(name, null, { key, conflict }));
    answers.push({ outcome, id, startedAtMs, endedAtMs: Date.now() });
  }
  return answers;
}

async function answerOf(submitting: Promise<SubmittedTask>): Promise<Pick<KeyedAnswer, "outcome" | "id">> {
  try {
    return await submitting;
  } catch (error) {
    if (isAlreadyExists(error)) return { outcome: "rejected", id: error.taskId };
    throw error;
  }
}

function isAlreadyExists(error: unknown): error is AlreadyExists {
  return WadiError.is(error) && error.code === "ALREADY_EXISTS";
}

export interface Drained {
  readonly summaries: DrainSummary[];
  /** The task ids its handler was called with. */
  readonly runs: string[];
}

/** Drains until nothing is due, from a time on that all racers share. */
async function drain(
  wadi: Wadi,
  { concurrency, startAtMs, prefetch }: { concurrency: number; startAtMs: number; prefetch?: number },
): Promise<Drained> {
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, startAtMs - Date.now())));
  const runs: string[] = [];
  const worker = new Worker(wadi, { concurrency, prefetch }).task(TASK, (context) => {
    runs.push(context.id);
    return claimOf(context);
  });
  const summaries: DrainSummary[] = [];
  do summaries.push(await worker.drain({ budgetMs: 60_000 }));
  while (summaries.at(-1)!.more);
  return { summaries, runs };
}

/** The result of every handler: the claim it ran for, so that the row shows whether another claim settled it. */
export function claimOf({ task, attempt }: TaskContext): { owner: string | null; attempt: number } {
  return { owner: task.workerId, attempt };
}
