import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Scene } from "./side.ts";
import type { WorkerJob } from "./worker.ts";

/** A worker process, as its side sees it. */
export class WorkerProcess {
  readonly name: string;
  readonly exited: Promise<unknown>;
  readonly #child: ChildProcess;
  #stderr = "";

  constructor(scene: Scene, job: Omit<WorkerJob, "ledger">) {
    this.name = job.name;
    const program = join(import.meta.dirname, "worker.ts");
    this.#child = fork(program, [JSON.stringify({ ...job, ledger: scene.ledger.path })], {
      // Node keeps compiled code for the next process.
      env: { ...process.env, NODE_COMPILE_CACHE: join(scene.folder, "compiled") },
      execArgv: [],
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    this.exited = once(this.#child, "exit").then(([code]) => {
      if (code !== null && code !== 0) scene.ended(`${job.name} ended with ${code}: ${this.#stderr}`);
    });
    this.#child.on("error", () => {}); // a message to one that has just died
    this.#child.on("message", ({ recovered }: { recovered: string }) => scene.recovered(recovered));
    this.#child.stderr!.on("data", (text) => {
      this.#stderr = (this.#stderr + text).slice(-2000);
    });
  }

  /** Whether a poisonous task killed it. */
  get isKilled(): boolean {
    return this.#child.signalCode === "SIGKILL";
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Asks it to stop, and kills it if that takes too long. */
  async stop(): Promise<void> {
    if (!this.isAlive) return;
    if (this.#child.connected) this.#child.send("stop", () => {}); // it may have died meanwhile
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), 15_000);
    await this.exited;
    clearTimeout(timer);
  }
}
