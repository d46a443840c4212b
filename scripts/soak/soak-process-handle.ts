import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Address } from "../../testing/races/connect.ts";
import type { Order, Report, Sample } from "./soak-process.ts";

/** A process of the soak, as its parent sees it. */
export class SoakMember {
  readonly #child: ChildProcess;
  readonly #exited: Promise<number | null>;
  #sampled: (sample: Sample) => void = () => {};
  #ready: () => void = () => {};
  #complaint = "";

  constructor(address: Address, order: Order, hear: (report: Report) => void) {
    const program = join(import.meta.dirname, "soak-process.ts");
    this.#child = fork(program, [JSON.stringify(address)], {
      execArgv: ["--expose-gc", "--max-semi-space-size=4"],
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    this.#exited = once(this.#child, "exit").then(([code]) => code as number | null);
    this.#child.stderr!.on("data", (text) => {
      this.#complaint = (this.#complaint + text).slice(-4000);
    });
    this.#child.on("message", (report: Report) => {
      if ("sample" in report) this.#sampled(report.sample);
      else if ("ready" in report) this.#ready();
      else hear(report);
    });
    this.#child.on("error", () => {}); // a message to one that has just died
    this.#child.send(order);
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Resolves once it has begun its work, or has died. */
  async ready(): Promise<this> {
    const ready = new Promise<void>((resolve) => {
      this.#ready = resolve;
    });
    await Promise.race([ready, this.#exited]);
    return this;
  }

  tell(order: Order): void {
    if (this.#child.connected) this.#child.send(order);
  }

  /** Its memory after a garbage collection; null if it died instead. */
  sample(): Promise<Sample | null> {
    const sampled = new Promise<Sample>((resolve) => {
      this.#sampled = resolve;
    });
    this.tell("sample");
    return Promise.race([sampled, this.#exited.then(() => null)]);
  }

  /** Ends it as a crash would. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exited;
  }

  /** Has it stop by itself, and says how that went: null if it ended in order. */
  async stop(how: "SIGTERM" | "message"): Promise<string | null> {
    if (how === "message") this.tell("stop");
    else this.#child.kill(how);
    const code = await this.#exited;
    return code === 0 ? null : `ended with ${code ?? this.#child.signalCode}: ${this.#complaint}`;
  }

  get complaint(): string {
    return this.#complaint;
  }
}
