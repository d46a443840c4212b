// Starts the programs of examples/demo as processes.

import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ROOT } from "../../examples/demo/files.ts";

export interface Program {
  readonly pid: number | undefined;
  /** Sends it a signal. SIGKILL ends it like a crash, without a chance to report or write anything. */
  send(signal: NodeJS.Signals): void;
  /** Settles when the process is gone: true if it was killed; rejects if it failed. */
  readonly wasKilled: Promise<boolean>;
}

/** The programs of examples/demo, each started as a separate process. */
export class Programs {
  readonly #running = new Set<Program>();
  readonly #env: NodeJS.ProcessEnv;

  /**
   * Aborting `stopped` kills them all. Node keeps compiled code in `cacheFolder`, so that only the first one
   * compiles.
   */
  constructor(stopped: AbortSignal, cacheFolder: string) {
    this.#env = { ...process.env, NODE_COMPILE_CACHE: cacheFolder };
    stopped.addEventListener("abort", () => void this.killAll(), { once: true });
  }

  /** Starts one. `onReport` gets each line of JSON it prints. */
  start(name: string, args: readonly string[], onReport: (report: unknown) => void): Program {
    const path = join(ROOT, "examples/demo", name);
    const child = spawn(process.execPath, [path, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      env: this.#env,
    });
    let failure: Error | undefined;
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    createInterface(child.stdout).on("line", (line) => {
      try {
        onReport(JSON.parse(line));
      } catch (cause) {
        failure ??= new Error(`${name} printed what is not a report: ${line}`, { cause });
      }
    });
    const wasKilled = new Promise<boolean>((resolve, reject) => {
      child.on("error", reject);
      // "close" comes after the last line of output; "exit" may come before it.
      child.on("close", (code, killedBy) => {
        if (failure !== undefined) reject(failure);
        else if (killedBy !== null) resolve(true);
        else if (code === 0) resolve(false);
        else reject(new Error(`${name} ended with exit code ${code}\n${stderr.trimEnd()}`));
      });
    });
    const program = { pid: child.pid, send: (signal: NodeJS.Signals) => void child.kill(signal), wasKilled };
    this.#running.add(program);
    const forget = () => void this.#running.delete(program);
    wasKilled.then(forget, forget);
    return program;
  }

  /** Kills those that still run and waits until they are gone. */
  async killAll(): Promise<void> {
    const running = [...this.#running];
    for (const program of running) program.send("SIGKILL");
    await Promise.allSettled(running.map(({ wasKilled }) => wasKilled));
  }
}
