// Shows the demo in a terminal while it runs.

import type { StatusCounts } from "../../src/index.ts";

const PLAIN_EVERY_MS = 500;
const BAR_CELLS = 24;

/**
 * Shows the run as it goes: events as lines; the counts as one live line in a terminal, else as a line now and then.
 */
export class View {
  readonly #output: NodeJS.WriteStream;
  readonly #startedAtMs = Date.now();
  #live = "";
  #lastPlain = { atMs: 0, text: "" };

  constructor(output: NodeJS.WriteStream) {
    this.#output = output;
  }

  /** Prints a line that stays, with the seconds since the start. */
  event(text: string): void {
    this.line(`${this.seconds(Date.now()).padStart(5)} s  ${text}`);
  }

  /** A time of day as seconds since the start. */
  seconds(atMs: number): string {
    return ((atMs - this.#startedAtMs) / 1000).toFixed(1);
  }

  line(text: string): void {
    const live = this.#live;
    this.clear();
    this.#output.write(`${text}\n`);
    this.#paint(live);
  }

  counts({ queued, running, succeeded, failed, canceled }: StatusCounts): void {
    const total = queued + running + succeeded + failed + canceled;
    const text = `${succeeded} of ${total} succeeded, ${running} running, ${queued} queued`;
    if (this.#output.isTTY) {
      const filled = Math.round((BAR_CELLS * succeeded) / Math.max(1, total));
      this.#paint(`[${"#".repeat(filled).padEnd(BAR_CELLS, ".")}] ${text}`);
      return;
    }
    const nowMs = Date.now();
    if (text === this.#lastPlain.text || nowMs - this.#lastPlain.atMs < PLAIN_EVERY_MS) return;
    this.#lastPlain = { atMs: nowMs, text };
    this.event(text);
  }

  /** Removes the live line. */
  clear(): void {
    if (this.#live !== "") this.#output.write("\r\x1b[K");
    this.#live = "";
  }

  #paint(text: string): void {
    if (text === this.#live) return;
    // A line that wraps could not be overwritten.
    this.#live = text.slice(0, (this.#output.columns || 80) - 1);
    this.#output.write(`\r\x1b[K${this.#live}`);
  }
}
