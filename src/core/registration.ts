import type { Handler } from "./context.ts";
import type { StandardSchemaV1 } from "./standard-schema.ts";

/** Samples the run time of a name is estimated from. */
const SAMPLES = 64;

/** One name a worker can run. */
export class Registration {
  readonly queue: string;
  readonly name: string;
  readonly handler: Handler;
  /** Null: no limit of its own. */
  readonly maxRunMs: number | null;
  readonly payload: StandardSchemaV1 | null;
  readonly result: StandardSchemaV1 | null;
  readonly #durations: number[] = [];
  #next = 0;

  constructor(parts: Pick<Registration, "queue" | "name" | "handler" | "maxRunMs" | "payload" | "result">) {
    this.queue = parts.queue;
    this.name = parts.name;
    this.handler = parts.handler;
    this.maxRunMs = parts.maxRunMs;
    this.payload = parts.payload;
    this.result = parts.result;
  }

  observe(durationMs: number): void {
    this.#durations[this.#next] = durationMs;
    this.#next = (this.#next + 1) % SAMPLES;
  }

  /** How long an attempt is expected to take: the declared ceiling, else the 95th percentile of the last runs. */
  expectedMs(): number {
    if (this.maxRunMs !== null) return this.maxRunMs;
    if (this.#durations.length === 0) return 0;
    const sorted = [...this.#durations].sort((a, b) => a - b);
    return sorted[Math.floor(sorted.length * 0.95)] ?? 0;
  }
}
