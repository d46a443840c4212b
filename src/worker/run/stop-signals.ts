import { Unsupported } from "../../core/errors/errors.ts";

/** What `serve` needs of a process: Node's, Deno's and Bun's all fit. */
export interface ProcessLike {
  on(event: StopSignal, listener: () => void): unknown;
  removeListener(event: StopSignal, listener: () => void): unknown;
  exit(code: number): unknown;
}

export type StopSignal = "SIGINT" | "SIGTERM";

/** What a shell expects of a process that such a signal ended: 128 and its number. */
const EXIT_CODES: Readonly<Record<StopSignal, number>> = { SIGINT: 130, SIGTERM: 143 };
const SIGNALS = Object.keys(EXIT_CODES) as StopSignal[];

/**
 * Takes SIGINT and SIGTERM until the returned function is called: the first calls `onStop`, a second one, of either
 * kind, ends the process at once.
 *
 * @throws {Unsupported} where there is no process that gets signals.
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

/** The process this runs in. */
export function thisProcess(): ProcessLike {
  const { process: own } = globalThis as { readonly process?: Partial<ProcessLike> };
  if (typeof own?.on !== "function" || typeof own.exit !== "function") {
    throw new Unsupported(
      "serve needs a process that gets signals, and this platform has none; use drain({ budgetMs }) in a short invocation, or run({ signal })",
    );
  }
  return own as ProcessLike;
}
