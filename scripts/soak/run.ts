import { setTimeout as sleep } from "node:timers/promises";
import { Wadi } from "../../src/index.ts";
import { query, readMoves, startAudit } from "../../testing/races/audit.ts";
import { connect } from "../../testing/races/connect.ts";
import type { SoakEngine } from "./engines.ts";
import { type Memory, memoryOf } from "./memory.ts";
import type { Report, Sample } from "./soak-process.ts";
import { SoakMember } from "./soak-process-handle.ts";
import { type Verdict, verdictOf } from "./verdict.ts";

export interface SoakPlan {
  readonly minutes: number;
  readonly tasksPerSecond: number;
  /** Worker processes beside the one that serves all the time. */
  readonly peers: number;
  /** How often something befalls the database. */
  readonly mishaps: number;
}

export interface SoakResult extends Memory, Omit<Verdict, "faults"> {
  readonly engine: string;
  readonly kills: number;
  /** Peers that were asked to stop, and did. */
  readonly stops: number;
  readonly restarts: number;
  readonly diskFull: number;
  /** Failed submits and what workers survived, by kind. */
  readonly failures: Readonly<Record<string, number>>;
  /** What must not be, in words; none of it is a good run. */
  readonly violations: readonly string[];
}

const LEASE_MS = 2000;
const KEEP_MS = 20_000;
const SAMPLES = 60;
/** After the last submit everything must be done within this. */
const FINISH_MS = 90_000;

/** Workers under load on one database for some minutes, with mishaps; then the database's own record is audited. */
export async function soak(
  engine: SoakEngine,
  plan: SoakPlan,
  say: (text: string) => void,
): Promise<SoakResult> {
  const control = await connect(engine.address, 2);
  const wadi = new Wadi(control.executor);
  const crew = new SoakCrew(engine);
  try {
    await startAudit(wadi);
    const samples = await crew.work(plan, say);
    const violations = [...crew.violations];
    const unfinished = await finish(wadi);
    if (unfinished > 0)
      violations.push(`${unfinished} tasks were not done ${FINISH_MS / 1000} s after the last submit`);
    violations.push(...(await crew.end()));
    const { faults, ...verdict } = verdictOf(crew.accepted, await readMoves(wadi));
    violations.push(...faults);
    const memory = memoryOf(samples, plan.minutes);
    if (!memory.isFlat) violations.push(`memory grows by ${memory.heapSlopeMbPerMinute} MB a minute`);
    if (engine.mishap === "diskFull" && crew.metDisk === 0) {
      violations.push("the disk was full, and nobody met it");
    }
    return {
      engine: engine.name,
      ...verdict,
      kills: crew.kills,
      stops: crew.stops,
      restarts: 0,
      diskFull: 0,
      [engine.mishap]: crew.mishaps,
      failures: crew.failures,
      ...memory,
      violations,
    };
  } finally {
    await crew.killAll();
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

/** The processes of one soak, and what happens to them. */
class SoakCrew {
  readonly accepted = new Set<string>();
  readonly failures: Record<string, number> = {};
  readonly violations: string[] = [];
  kills = 0;
  stops = 0;
  mishaps = 0;
  readonly #engine: SoakEngine;
  readonly #members = new Set<SoakMember>();
  #server!: SoakMember;
  #peers: SoakMember[] = [];

  constructor(engine: SoakEngine) {
    this.#engine = engine;
  }

  /** All of it except the end; returns the memory of the worker that serves all the time. */
  async work(plan: SoakPlan, say: (text: string) => void): Promise<Sample[]> {
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
      for (let n = 0; n < plan.mishaps; n++) {
        await until(lastMs / (plan.mishaps + 1));
        const before = this.metDisk;
        await this.#engine.befall(
          (order) => {
            for (const member of this.#members) member.tell(order);
          },
          () => this.metDisk > before,
        );
        this.mishaps++;
        say(
          `${this.#engine.name}: ${this.#engine.mishap} ${this.mishaps}, ${this.accepted.size} accepted, ${this.kills} killed`,
        );
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

  /** Asks the workers to stop, and says who did not do so in order. */
  async end(): Promise<string[]> {
    this.violations.length = 0;
    this.#note("the worker", await this.#server.stop("SIGTERM"));
    for (const peer of this.#peers) this.#note("a peer", await peer.stop("SIGTERM"));
    return this.violations;
  }

  /** How often somebody met a full disk. */
  get metDisk(): number {
    const met = Object.entries(this.failures).filter(([failure]) => /FULL|IOERR/.test(failure));
    return met.reduce((sum, [, count]) => sum + count, 0);
  }

  async killAll(): Promise<void> {
    await Promise.all([...this.#members].map((member) => member.isAlive && member.kill()));
  }

  /** One peer is killed, or asked to stop every fourth time, and another takes its place. */
  async #harmPeer(): Promise<void> {
    const peer = this.#peers.splice(Math.floor(Math.random() * this.#peers.length), 1)[0];
    if (peer === undefined) return;
    if (!peer.isAlive) this.violations.push(`a peer died by itself: ${peer.complaint}`);
    else if ((this.kills + this.stops) % 4 === 3) {
      this.stops++;
      this.#note("a peer", await peer.stop("SIGTERM"));
    } else {
      this.kills++;
      await peer.kill();
    }
    this.#members.delete(peer);
    this.#peers.push(await this.#worker("peer").ready());
  }

  #worker(name: string): SoakMember {
    return this.#start({ serve: { name, leaseMs: LEASE_MS, concurrency: 16, keepMs: KEEP_MS } });
  }

  #start(order: ConstructorParameters<typeof SoakMember>[1]): SoakMember {
    const member = new SoakMember(this.#engine.address, order, (report) => this.#hear(report));
    this.#members.add(member);
    return member;
  }

  #hear(report: Report): void {
    if ("accepted" in report) for (const id of report.accepted) this.accepted.add(id);
    else if ("failure" in report) this.failures[report.failure] = (this.failures[report.failure] ?? 0) + 1;
  }

  #note(who: string, complaint: string | null): void {
    if (complaint !== null) this.violations.push(`${who} ${complaint}`);
  }
}
