// Starts the demo's worker invocations until no task is left, and kills one of them.

import { setTimeout as sleep } from "node:timers/promises";
import { inspectFile } from "../../examples/demo/tasks.ts";
import type { DrainSummary, Wadi } from "../../src/index.ts";
import type { Program, Programs } from "./programs.ts";
import { allTasks, tasksOf } from "./rows.ts";
import type { View } from "./view.ts";

const AT_ONCE = 2;
/** Time between two reads of the progress. */
const POLL_EVERY_MS = 25;
/** One invocation is killed once this part of all tasks has succeeded. */
const KILL_AFTER = 1 / 4;

/** Starts worker invocations until no task is queued or running, as a platform would, and kills one of them. */
export class Invocations {
  started = 0;
  killed = 0;
  /** Ids of the tasks the killed invocation held, as their rows say. */
  readonly held = new Set<string>();
  readonly #wadi: Wadi;
  readonly #programs: Programs;
  readonly #file: string;
  readonly #view: View;
  readonly #signal: AbortSignal;
  readonly #active = new Map<string, Program>();
  #dueAtMs = 0;
  #failure: unknown;

  constructor(wadi: Wadi, programs: Programs, file: string, view: View, signal: AbortSignal) {
    this.#wadi = wadi;
    this.#programs = programs;
    this.#file = file;
    this.#view = view;
    this.#signal = signal;
  }

  async run(): Promise<void> {
    for (;;) {
      const counts = (await this.#wadi.stats([inspectFile.queue]))[inspectFile.queue]!;
      this.#view.counts(counts);
      if (counts.queued + counts.running === 0) break;
      while (this.#active.size < AT_ONCE && Date.now() >= this.#dueAtMs) void this.#invoke();
      const total = Object.values(counts).reduce((sum, count) => sum + count);
      if (this.held.size === 0 && counts.succeeded >= total * KILL_AFTER) await this.#killOne();
      await sleep(POLL_EVERY_MS, undefined, { signal: this.#signal });
      if (this.#failure !== undefined) throw this.#failure;
    }
    while (this.#active.size > 0) await sleep(POLL_EVERY_MS, undefined, { signal: this.#signal });
  }

  async #invoke(): Promise<void> {
    const name = `invocation-${++this.started}`;
    let summary: DrainSummary | undefined;
    const program = this.#programs.start("drain.ts", [this.#file, name], (report) => {
      summary = report as DrainSummary;
    });
    this.#active.set(name, program);
    try {
      const wasKilled = await program.wasKilled;
      if (wasKilled) this.killed++;
      // The summary says when to start the next one. A killed invocation has none, so another one starts immediately.
      this.#dueAtMs = summary === undefined ? 0 : (summary.nextDueAtMs ?? Number.POSITIVE_INFINITY);
      if (summary !== undefined) this.#view.event(`${name} ${describe(summary)}`);
    } catch (error) {
      this.#failure = error;
    } finally {
      this.#active.delete(name);
    }
  }

  /** Kills an invocation that has finished some tasks and holds others, if there is one at this moment. */
  async #killOne(): Promise<void> {
    for (const [name, program] of this.#active) {
      // Frozen first, so that it cannot finish its tasks between the read of their rows and the kill.
      program.send("SIGSTOP");
      const tasks = tasksOf(name, await allTasks(this.#wadi));
      const held = tasks.filter(({ status }) => status === "running");
      const done = tasks.length - held.length;
      if (held.length === 0 || done === 0) {
        program.send("SIGCONT");
        continue;
      }
      program.send("SIGKILL");
      await program.wasKilled;
      for (const { id } of held) this.held.add(id);
      const leaseEndsAtMs = Math.max(...held.map(({ leaseUntilMs }) => leaseUntilMs ?? 0));
      this.#view.event(
        `${name} (process ${program.pid}) was killed with SIGKILL: ${done} tasks done, ${held.length} held, ` +
          `whose lease ends at ${this.#view.seconds(leaseEndsAtMs)} s; others go on`,
      );
      return;
    }
  }
}

function describe(summary: DrainSummary): string {
  const parts = [`ran ${summary.claimed} tasks (round trips: ${summary.roundTrips})`];
  if (summary.recovered > 0) parts.push(`took ${summary.recovered} back whose lease had expired`);
  if (summary.retried > 0) parts.push(`queued ${summary.retried} again`);
  if (summary.lost > 0) parts.push(`lost ${summary.lost}`);
  const rest = summary.more
    ? "more are due"
    : summary.nextDueAtMs === null
      ? "nothing is left"
      : "none is due";
  return `${parts.join(", ")}; ${rest}`;
}
