/** The signals of the operating system that stop a worker. */

import { Unsupported } from "../../core/errors/errors.ts";

/** The part of a process that `serve` uses; that of Node, Deno and Bun fits. */
export interface ProcessLike {
  on(event: StopSignal, listener: () => void): unknown;
  removeListener(event: StopSignal, listener: () => void): unknown;
  exit(code: number): unknown;
}

/** A signal that asks a process to end. */
export type StopSignal = "SIGINT" | "SIGTERM";

/** The exit code of a process that a signal ended is 128 plus the number of the signal. */
const EXIT_CODES: Readonly<Record<StopSignal, number>> = { SIGINT: 130, SIGTERM: 143 };
const SIGNALS = Object.keys(EXIT_CODES) as StopSignal[];

/**
 * Handles SIGINT and SIGTERM until the returned function is called: the first calls `onStop`, a second one, of either
 * kind, ends the process at once.
 */
export function handleStopSignals(target: ProcessLike, onStop: (signal: StopSignal) => void): () => void {
  let isStopping = false;
  const listeners = SIGNALS.map((signal) => {
    const listener = () => {
      if (isStopping) return target.exit(EXIT_CODES[signal]);
      isStopping = true;
      onStop(signal);
    };
    return [signal, listener] as const;
  });
  for (const [signal, listener] of listeners) target.on(signal, listener);
  return () => {
    for (const [signal, listener] of listeners) target.removeListener(signal, listener);
  };
}

/** The process this runs in. @throws {Unsupported} on a platform whose process gets no signals. */
export function thisProcess(): ProcessLike {
  const { process: current } = globalThis as { readonly process?: Partial<ProcessLike> };
  if (typeof current?.on !== "function" || typeof current.exit !== "function") {
    throw new Unsupported(
      "serve needs a process that gets signals, and this platform has none; " +
        "use drain({ budgetMs }) in a short invocation, or run({ signal })",
    );
  }
  return current as ProcessLike;
}
