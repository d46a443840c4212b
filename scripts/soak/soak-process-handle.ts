import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Address } from "../../testing/races/connect.ts";
import type { Order, Report, Sample } from "./messages.ts";

/** The parent's handle of a process of the soak. */
export class SoakProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<number | null>;
  #sampled: (sample: Sample) => void = () => {};
  #ready: () => void = () => {};
  #stderr = "";

  constructor(address: Address, order: Order, onReport: (report: Report) => void) {
    const program = join(import.meta.dirname, "soak-process.ts");
    this.#child = fork(program, [JSON.stringify(address)], {
      execArgv: ["--expose-gc", "--max-semi-space-size=4"],
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    this.#exited = once(this.#child, "exit").then(([code]) => code as number | null);
    this.#child.stderr!.on("data", (text) => {
      this.#stderr = (this.#stderr + text).slice(-4000);
    });
    this.#child.on("message", (report: Report) => {
      if ("sample" in report) this.#sampled(report.sample);
      else if ("ready" in report) this.#ready();
      else onReport(report);
    });
    this.#child.on("error", () => {}); // a message to a process that has just died
    this.#child.send(order);
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Resolves once it has begun its work or has died. */
  async ready(): Promise<this> {
    const ready = new Promise<void>((resolve) => {
      this.#ready = resolve;
    });
    await Promise.race([ready, this.#exited]);
    return this;
  }

  send(order: Order): void {
    if (this.#child.connected) this.#child.send(order);
  }

  /** Its memory after a garbage collection; null if it died instead. */
  sample(): Promise<Sample | null> {
    const sampled = new Promise<Sample>((resolve) => {
      this.#sampled = resolve;
    });
    this.send("sample");
    return Promise.race([sampled, this.#exited.then(() => null)]);
  }

  /** Kills it, like a crash. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exited;
  }

  /** Asks it to stop. Resolves with null if it ended cleanly, else with the exit code and its output. */
  async stop(how: "SIGTERM" | "message"): Promise<string | null> {
    if (how === "message") this.send("stop");
    else this.#child.kill(how);
    const code = await this.#exited;
    return code === 0 ? null : `ended with ${code ?? this.#child.signalCode}: ${this.#stderr}`;
  }

  get stderr(): string {
    return this.#stderr;
  }
}
