import type { Executor } from "../../../src/driver.ts";
import type { Wadi } from "../../../src/index.ts";
import type { FaultLog } from "./kinds.ts";
import type { Ledger } from "./ledger.ts";
import type { Accepted } from "./tasks.ts";

/** The parts that all sides of one soak share. */
export interface Scene {
  readonly log: FaultLog;
  readonly ledger: Ledger;
  /** A folder that is gone after the soak. */
  readonly folder: string;
  /** Counts an error that a worker recovered from, or a submit that failed, for the report. */
  readonly recovered: (what: string) => void;
  /** Reports a worker that ended by itself, in words. */
  readonly ended: (what: string) => void;
}

/** A database with workers, a producer and the faults that fit it. */
export interface Side {
  readonly name: string;
  /** A worker has to recover within it. */
  readonly leaseMs: number;
  readonly accepted: readonly Accepted[];
  /** A client without faults, for the reads of the soak itself. */
  readonly direct: Executor;
  /** Submits, works and injects faults until the signal aborts, then ends the faults. Workers go on. */
  work(signal: AbortSignal): Promise<void>;
  /** Stops the workers and closes the database. */
  close(): Promise<void>;
}

export type OpenSide = (scene: Scene, perSecond: number) => Promise<Side>;

/** Submits are retried for longer than a fault lasts; a submit that still fails is not accepted. */
export const SUBMIT_RETRY = { tries: 12, baseMs: 50, capMs: 1000 } as const;

/** Calls `inject` at random times, `everyMs` apart on average, until the signal aborts. */
export async function repeat(everyMs: number, signal: AbortSignal, inject: () => unknown): Promise<void> {
  for (;;) {
    await pause(everyMs * (0.5 + Math.random()), signal);
    if (signal.aborted) return;
    await inject();
  }
}

/** Resolves after `ms`, or at once when the signal aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}

export function pick<T>(values: readonly T[]): T {
  return values[Math.floor(Math.random() * values.length)]!;
}

/** Creates the tables before any fault. */
export async function prepare(wadi: Wadi): Promise<void> {
  await wadi.migrate();
  await wadi.get("none");
}
