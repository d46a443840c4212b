// A fresh database and its clients, from which the operations to be measured start.

import type { ClaimRequest } from "../../src/core/operations/claim.ts";
import type { Settlement } from "../../src/core/operations/settle.ts";
import type { Task } from "../../src/core/task.ts";
import { Wadi } from "../../src/producer/wadi.ts";
import type { WadiOptions } from "../../src/producer/wadi-options.ts";
import { Worker } from "../../src/worker/worker.ts";
import { storeOf } from "../../testing/store.ts";
import type { OpenTarget } from "../../testing/target.ts";

export const THREE_NAMES = ["index", "mail", "resize"];

/** Brings an empty database into the state an operation starts from, and returns the one call to measure. */
export type Operation = (bench: Bench) => Promise<() => Promise<unknown>>;

export const HOUR_MS = 3_600_000;
export const PAYLOAD = { path: "docs/cost.md" };

/** One fresh database with a session that has made its first request. */
export class Bench {
  readonly wadi: Wadi;
  /** The same database an hour ago. */
  readonly past: Wadi;

  /** The same database with a wake. */
  readonly kicking: Wadi;
  readonly #target: OpenTarget;

  private constructor(target: OpenTarget) {
    this.#target = target;
    this.wadi = new Wadi(target.executor);
    this.kicking = new Wadi(target.executor, { wake: () => {} });
    this.past = new Wadi(target.executor, { clock: () => Date.now() - HOUR_MS });
  }

  static async open(target: OpenTarget): Promise<Bench> {
    const bench = new Bench(target);
    await bench.wadi.getStatus("none");
    await bench.kicking.getStatus("none");
    return bench;
  }

  /** One more client with these options, which has made its first request. */
  async with(options: WadiOptions): Promise<Wadi> {
    const wadi = new Wadi(this.#target.executor, options);
    await wadi.getStatus("none");
    return wadi;
  }

  /** Queued tasks, due unless `delayMs` says otherwise. */
  queue(count: number, { name = "index", delayMs = 0 } = {}): Promise<Task[]> {
    const entry = { payload: PAYLOAD, delayMs };
    return this.wadi.submitMany(name, Array<typeof entry>(count).fill(entry));
  }

  async claim(count: number): Promise<Task[]> {
    await this.queue(count);
    return (await storeOf(this.wadi).claim(claimOf(count))).tasks;
  }

  /** Tasks that succeeded an hour ago. */
  async finish(count: number): Promise<void> {
    await this.past.submitMany("index", Array(count).fill({ payload: PAYLOAD }));
    const { tasks } = await storeOf(this.past).claim(claimOf(count));
    await storeOf(this.past).settle(tasks.map(succeeded));
  }

  /** A backlog an idle system may have: tasks due in an hour under each name, and finished ones. */
  async fill(names: readonly string[], notDue: number, finished: number): Promise<void> {
    await this.finish(finished);
    for (const name of names) await this.queue(Math.ceil(notDue / names.length), { name, delayMs: HOUR_MS });
  }

  drainOf(names: readonly string[], wadi = this.wadi): () => Promise<unknown> {
    const worker = new Worker(wadi);
    for (const name of names) worker.task(name, () => null);
    return () => worker.drain();
  }
}

let claims = 0;

export function claimOf(limit: number): ClaimRequest {
  const lanes = [{ queue: "default", name: "index", quota: limit }];
  return { pools: [{ lanes, limit }], workerId: `cost:${++claims}`, leaseMs: 60_000, limited: false };
}

export function succeeded({ id, workerId, attempt }: Task): Settlement {
  return { id, workerId: workerId!, attempt, outcome: "complete", resultJson: '{"lines":120}' };
}
