import { setTimeout as sleep } from "node:timers/promises";
import type { ContainerJob } from "./container.ts";
import { ContainerProcess } from "./container-process.ts";
import { type Fate, type FaultRates, fateOf } from "./fates.ts";
import { type InvocationPlan, type InvocationRecord, invoke } from "./invoke.ts";

/** How a platform serves ticks, and how often its faults hit. */
export interface PlatformPlan extends Omit<ContainerJob, "container">, InvocationPlan {
  /** Invocations at a time; doubled ticks come on top. */
  readonly width: number;
  readonly rates: FaultRates;
}

/** Pause after an invocation that had nothing to do. */
const IDLE_MS = 100;

/** A serverless platform: it starts invocations in reused processes, ends them at their deadlines, and has faults. */
export class Platform {
  readonly records: InvocationRecord[] = [];
  readonly #plan: PlatformPlan;
  readonly #cacheFolder: string;
  readonly #idle: ContainerProcess[] = [];
  readonly #all = new Set<ContainerProcess>();
  #containers = 0;
  #invocations = 0;

  constructor(plan: PlatformPlan, cacheFolder: string) {
    this.#plan = plan;
    this.#cacheFolder = cacheFolder;
  }

  /** Sends ticks until `isDone`. */
  async run(isDone: () => boolean): Promise<void> {
    const source = async () => {
      while (!isDone()) await this.#tick();
    };
    await Promise.all(Array.from({ length: this.#plan.width }, source));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all].map((container) => container.end()));
  }

  async #tick(): Promise<void> {
    const { seed, invocationMs, rates } = this.#plan;
    const invocation = this.#invocations++;
    const fate = fateOf(seed, invocation, invocationMs, rates);
    const invocations = [this.#invoke(invocation, fate)];
    if (fate.isDoubled) {
      const twin = this.#invocations++;
      invocations.push(this.#invoke(twin, fateOf(seed, twin, invocationMs, rates)));
    }
    const claimed = await Promise.all(invocations);
    if (claimed.every((tasks) => tasks === 0)) await sleep(IDLE_MS);
  }

  /** Returns how many tasks it claimed; null if that is unknown. */
  async #invoke(invocation: number, fate: Fate): Promise<number | null> {
    const container = await this.#container();
    const { record, answer } = await invoke(container, invocation, fate, this.#plan);
    this.records.push(record);
    if (container.isAlive && fate.killAfterMs === null && record.overranAtMs === null)
      this.#idle.push(container);
    else await container.end();
    return answer?.claimed ?? null;
  }

  async #container(): Promise<ContainerProcess> {
    const reused = this.#idle.pop();
    if (reused !== undefined) return reused;
    const container = new ContainerProcess(
      { ...this.#plan, container: this.#containers++ },
      this.#cacheFolder,
    );
    this.#all.add(container);
    await container.ready();
    return container;
  }
}
