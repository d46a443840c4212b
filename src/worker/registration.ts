import type { StandardSchemaV1 } from "../core/standard-schema.ts";
import type { Handler } from "./context.ts";

/** One name a worker can run. */
export interface Registration {
  readonly queue: string;
  readonly name: string;
  readonly handler: Handler;
  /** Null: no limit of its own. */
  readonly maxRunMs: number | null;
  readonly payload: StandardSchemaV1 | null;
  readonly result: StandardSchemaV1 | null;
  readonly runs: RunTimes;
}

/** What a claim knows a name by. */
export function laneKey({ queue, name }: { readonly queue: string; readonly name: string }): string {
  return `${queue}\0${name}`;
}

/** Runs an estimate is made from. */
const SAMPLES = 64;

/** How long the last runs of a name took. */
export class RunTimes {
  readonly #durations: number[] = [];
  #next = 0;

  add(durationMs: number): void {
    this.#durations[this.#next++ % SAMPLES] = durationMs;
  }

  /** The 95th percentile in milliseconds, 0 before the first run. */
  p95(): number {
    const sorted = [...this.#durations].sort((a, b) => a - b);
    return sorted[Math.floor(sorted.length * 0.95)] ?? 0;
  }
}
