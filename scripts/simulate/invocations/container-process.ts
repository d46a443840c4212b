import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Answer, ContainerJob, Invocation } from "./container.ts";
import { machineMs } from "./work-log.ts";

/** A container, as the platform sees it. */
export class ContainerProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #ready: Promise<unknown>;
  #stderr = "";

  constructor(job: ContainerJob, cacheFolder: string) {
    this.#child = fork(join(import.meta.dirname, "container.ts"), [JSON.stringify(job)], {
      // Node keeps compiled code for the next process.
      env: { ...process.env, NODE_COMPILE_CACHE: cacheFolder },
      execArgv: [],
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    this.#child.on("error", () => {}); // a message to one that was just killed
    this.#child.stderr!.on("data", (text) => {
      this.#stderr = (this.#stderr + text).slice(-2000);
    });
    this.#exited = once(this.#child, "exit");
    this.#ready = once(this.#child, "message");
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Resolves when it can serve. @throws {Error} if it ended before. */
  async ready(): Promise<void> {
    await Promise.race([this.#ready, this.#exited]);
    if (!this.isAlive) throw new Error(`a container did not start: ${this.#stderr}`);
  }

  /** Starts an invocation, and resolves with its answer; null if the process ended without one. */
  async invoke(invocation: Invocation): Promise<Answer | null> {
    const answered = once(this.#child, "message").then(([answer]) => answer as Answer);
    this.#child.send(invocation);
    return Promise.race([answered, this.#exited.then(() => null)]);
  }

  /** Sends a signal that it cannot catch, and returns when that was. */
  signal(signal: "SIGKILL" | "SIGSTOP" | "SIGCONT"): number {
    const atMs = machineMs();
    this.#child.kill(signal);
    return atMs;
  }

  async end(): Promise<void> {
    if (!this.isAlive) return;
    this.signal("SIGKILL"); // also ends one that is stopped
    await this.#exited;
  }
}
