import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DrainSummary } from "../../src/index.ts";
import type { Address } from "./connect.ts";
import type { DoomedWork } from "./doomed-worker.ts";
import type { JobArgs, JobName, JobResult, Racer } from "./jobs.ts";
import type { Order, Reply } from "./racer-process.ts";

/** Processes that are started once and race on one database after the other. */
export class RacerProcesses {
  readonly #processes: RacerProcess[] = [];
  // Node keeps compiled code here, so that only the first process compiles.
  readonly #cache = mkdtempSync(join(tmpdir(), "wadi-races-"));

  /** `count` processes with an open connection each. */
  open(count: number, address: Address): Promise<RacerProcess[]> {
    while (this.#processes.length < count) this.start();
    return Promise.all(this.#processes.slice(0, count).map((process) => process.open(address)));
  }

  /** One more process. */
  start(): RacerProcess {
    const started = new RacerProcess({ ...process.env, NODE_COMPILE_CACHE: this.#cache });
    this.#processes.push(started);
    return started;
  }

  /** Kills all processes and waits until they are gone. */
  async end(): Promise<void> {
    await Promise.all(this.#processes.map((process) => process.kill()));
    rmSync(this.#cache, { recursive: true, force: true });
  }
}

export class RacerProcess implements Racer {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  #stderr = "";

  constructor(env: NodeJS.ProcessEnv) {
    const program = join(import.meta.dirname, "racer-process.ts");
    this.#child = fork(program, { env, execArgv: [], stdio: ["ignore", "ignore", "pipe", "ipc"] });
    this.#exited = once(this.#child, "exit");
    this.#child.stderr!.on("data", (text) => {
      this.#stderr += text;
    });
  }

  get pid(): number {
    return this.#child.pid!;
  }

  async open(address: Address): Promise<this> {
    await this.#send({ open: address });
    return this;
  }

  async run<Name extends JobName>(job: Name, args: JobArgs<Name>): Promise<JobResult<Name>> {
    return (await this.#send({ job, args })) as JobResult<Name>;
  }

  /** Lets the process work until it is killed. Rejects if it ends before. */
  async work(options: DoomedWork): Promise<void> {
    const work = this.#send({ work: options });
    await Promise.race([work, this.#exited]);
    if (this.#child.signalCode !== "SIGKILL") await work;
  }

  /** Lets the process serve until SIGTERM, and returns its summary. */
  async serve(): Promise<DrainSummary> {
    return (await this.#send("serve")) as DrainSummary;
  }

  terminate(): void {
    this.#child.kill("SIGTERM");
  }

  /** Closes its connection; the process stays. */
  async close(): Promise<void> {
    await this.#send("close");
  }

  /** Kills the process like a crash, without a chance to report or write anything. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exited;
  }

  async #send(order: Order): Promise<unknown> {
    const replied = once(this.#child, "message") as Promise<[Reply]>;
    this.#child.send(order);
    const died = this.#exited.then((): never => {
      throw new Error(`process ${this.pid} ended before it replied\n${this.#stderr}`);
    });
    const [reply] = await Promise.race([replied, died]);
    if ("error" in reply) throw new Error(`process ${this.pid} failed: ${reply.error}`);
    return reply.value;
  }
}
