// One soak: producers and workers on one database, faults, kills, and an audit of the database's record at the end.

import { setTimeout as sleep } from "node:timers/promises";
import { Wadi } from "../../src/index.ts";
import { query, readMoves, startAudit } from "../../testing/races/audit.ts";
import { connect } from "../../testing/races/connect.ts";
import type { SoakEngine } from "./engines.ts";
import { type Memory, memoryOf } from "./memory.ts";
import type { Report, Sample } from "./messages.ts";
import { SoakProcess } from "./soak-process-handle.ts";
import { type Verdict, verdictOf } from "./verdict.ts";

export interface SoakPlan {
  readonly minutes: number;
  readonly tasksPerSecond: number;
  /** Worker processes that are killed and replaced, in addition to the one that serves all the time. */
  readonly peers: number;
  /** Number of faults injected into the database. */
  readonly faults: number;
}

export interface SoakResult extends Memory, Omit<Verdict, "problems"> {
  readonly engine: string;
  readonly kills: number;
  /** Peers that were asked to stop. */
  readonly stops: number;
  readonly restarts: number;
  readonly diskFull: number;
  /** Number of failed submits and of errors that workers recovered from, by kind. */
  readonly failures: Readonly<Record<string, number>>;
  /** Broken promises, in words; a good run has none. */
  readonly violations: readonly string[];
}

const LEASE_MS = 2000;
const KEEP_MS = 20_000;
const SAMPLES = 60;
/** After the last submit all tasks must be terminal within this time. */
const FINISH_MS = 90_000;

/**
 * Runs workers under load on one database for some minutes, injects faults, and then audits the record that the
 * database kept.
 */
export async function soak(
  engine: SoakEngine,
  plan: SoakPlan,
  log: (text: string) => void,
): Promise<SoakResult> {
  const control = await connect(engine.address, 2);
  const wadi = new Wadi(control.executor);
  const processes = new SoakProcesses(engine);
  try {
    await startAudit(wadi);
    const samples = await processes.work(plan, log);
    const violations = [...processes.violations];
    const unfinished = await finish(wadi);
    if (unfinished > 0)
      violations.push(`${unfinished} tasks were not done ${FINISH_MS / 1000} s after the last submit`);
    violations.push(...(await processes.end()));
    const { problems, ...verdict } = verdictOf(processes.accepted, await readMoves(wadi));
    violations.push(...problems);
    const memory = memoryOf(samples, plan.minutes);
    if (!memory.isFlat) violations.push(`memory grows by ${memory.heapSlopeMbPerMinute} MB a minute`);
    if (engine.faultKind === "diskFull" && processes.diskFullErrors === 0) {
      violations.push("the disk was full, and no process met an error");
    }
    return {
      engine: engine.name,
      ...verdict,
      kills: processes.kills,
      stops: processes.stops,
      restarts: 0,
      diskFull: 0,
      [engine.faultKind]: processes.faults,
      failures: processes.failures,
      ...memory,
      violations,
    };
  } finally {
    await processes.killAll();
    await control.close();
  }
}

/** Waits until nothing is queued or running, and returns how much still is when the time is up. */
async function finish(wadi: Wadi): Promise<number> {
  const end = Date.now() + FINISH_MS;
  const sql = "select count(*) as n from cairnq_tasks where status in ('queued', 'running')";
  for (;;) {
    const [row] = await query(wadi, sql);
    if (Number(row!.n) === 0 || Date.now() > end) return Number(row!.n);
    await sleep(100);
  }
}

/** The processes of one soak. */
class SoakProcesses {
  readonly accepted = new Set<string>();
  readonly failures: Record<string, number> = {};
  readonly violations: string[] = [];
  kills = 0;
  stops = 0;
  faults = 0;
  readonly #engine: SoakEngine;
  readonly #processes = new Set<SoakProcess>();
  #server!: SoakProcess;
  #peers: SoakProcess[] = [];

  constructor(engine: SoakEngine) {
    this.#engine = engine;
  }

  /** Runs the load, the faults and the kills; returns samples of the memory of the worker that serves all the time. */
  async work(plan: SoakPlan, log: (text: string) => void): Promise<Sample[]> {
    const lastMs = plan.minutes * 60_000;
    const end = Date.now() + lastMs;
    this.#server = await this.#worker("served").ready();
    const peers = Array.from({ length: plan.peers }, () => this.#worker("peer").ready());
    this.#peers = await Promise.all(peers);
    const produce = { tasksPerSecond: plan.tasksPerSecond, keys: 5000 };
    const producer = await this.#start({ produce }).ready();
    const samples: Sample[] = [];
    const until = (ms: number) => sleep(Math.max(0, Math.min(ms, end - Date.now())));

    const disturb = async () => {
      for (let n = 0; n < plan.faults; n++) {
        await until(lastMs / (plan.faults + 1));
        const before = this.diskFullErrors;
        await this.#engine.injectFault(
          (order) => {
            for (const process of this.#processes) process.send(order);
          },
          () => this.diskFullErrors > before,
        );
        this.faults++;
        const { name, faultKind } = this.#engine;
        log(`${name}: ${faultKind} ${this.faults}, ${this.accepted.size} accepted, ${this.kills} killed`);
      }
    };
    const harm = async () => {
      while (Date.now() < end) {
        await until(500 + Math.random() * 3000);
        await this.#harmPeer();
      }
    };
    const sample = async () => {
      while (Date.now() < end && this.#server.isAlive) {
        await until(lastMs / SAMPLES);
        const sampled = await this.#server.sample();
        if (sampled !== null) samples.push(sampled);
      }
    };
    await Promise.all([disturb(), harm(), sample()]);
    this.#note("the producer", await producer.stop("message"));
    return samples;
  }

  /** Asks the workers to stop, and returns those that did not end cleanly. */
  async end(): Promise<string[]> {
    this.violations.length = 0;
    this.#note("the worker", await this.#server.stop("SIGTERM"));
    for (const peer of this.#peers) this.#note("a peer", await peer.stop("SIGTERM"));
    return this.violations;
  }

  /** How many errors of a full disk the processes reported. */
  get diskFullErrors(): number {
    const met = Object.entries(this.failures).filter(([failure]) => /FULL|IOERR/.test(failure));
    return met.reduce((sum, [, count]) => sum + count, 0);
  }

  async killAll(): Promise<void> {
    await Promise.all([...this.#processes].map((process) => process.isAlive && process.kill()));
  }

  /** One peer is killed, or asked to stop every fourth time, and another takes its place. */
  async #harmPeer(): Promise<void> {
    const peer = this.#peers.splice(Math.floor(Math.random() * this.#peers.length), 1)[0];
    if (peer === undefined) return;
    if (!peer.isAlive) this.violations.push(`a peer died by itself: ${peer.stderr}`);
    else if ((this.kills + this.stops) % 4 === 3) {
      this.stops++;
      this.#note("a peer", await peer.stop("SIGTERM"));
    } else {
      this.kills++;
      await peer.kill();
    }
    this.#processes.delete(peer);
    this.#peers.push(await this.#worker("peer").ready());
  }

  #worker(name: string): SoakProcess {
    return this.#start({ serve: { name, leaseMs: LEASE_MS, concurrency: 16, keepMs: KEEP_MS } });
  }

  #start(order: ConstructorParameters<typeof SoakProcess>[1]): SoakProcess {
    const process = new SoakProcess(this.#engine.address, order, (report) => this.#onReport(report));
    this.#processes.add(process);
    return process;
  }

  #onReport(report: Report): void {
    if ("accepted" in report) for (const id of report.accepted) this.accepted.add(id);
    else if ("failure" in report) this.failures[report.failure] = (this.failures[report.failure] ?? 0) + 1;
  }

  #note(who: string, failure: string | null): void {
    if (failure !== null) this.violations.push(`${who} ${failure}`);
  }
}
