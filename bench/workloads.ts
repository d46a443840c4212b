// The workloads, each run on both sides in turn.

import { compare, comparePace, repeat, resultOf, type Scope } from "./measure.ts";
import type { Side } from "./side.ts";

export interface Sides {
  readonly raw: Side;
  readonly wadi: Side;
}

/** How much of each workload one timing holds; smaller where every step waits for a network. */
export interface Size {
  readonly steps: number;
  readonly bulk: number;
  readonly tasks: number;
  /** Tasks of a drain that claims ahead. */
  readonly ahead: number;
}

/** The sides and sizes of a group of workloads. */
export interface Stage extends Scope {
  readonly sides: Sides;
  readonly size: Size;
}

async function each(sides: Sides, work: (side: Side) => Promise<void>): Promise<void> {
  await work(sides.raw);
  await work(sides.wadi);
}

export async function submits(stage: Stage): Promise<void> {
  const { sides, size } = stage;
  const { raw, wadi } = sides;
  const same = (workload: string, operation: (side: Side) => () => Promise<void>) =>
    compare(stage, workload, repeat(operation(raw), size.steps), repeat(operation(wadi), size.steps));
  await same("submit, sequential", (side) => side.submit);
  await compare(
    stage,
    "submit, 64 in flight (floor: sequential)",
    repeat(raw.submit, size.steps),
    repeat(wadi.submit, Math.max(64, size.steps - (size.steps % 64)) * 2, 64),
  );
  const many = (side: Side) => ({
    run: async () => {
      await side.submitMany(size.bulk);
      return size.bulk;
    },
  });
  await compare(stage, `submitMany, ${size.bulk}`, many(raw), many(wadi));
  await same("keyed submit, new key", (side) => side.submitNewKey);
  await same("keyed submit, existing key", (side) => side.submitExistingKey);
  await each(sides, (side) => side.clear());
}

export async function drains(stage: Stage, concurrencies: readonly number[]): Promise<void> {
  const { sides, size } = stage;
  for (const concurrency of concurrencies) {
    const tasks = Math.min(size.tasks, concurrency * Math.ceil(size.tasks / 32));
    const work = (side: Side) => ({
      prepare: async () => {
        await side.clear();
        await side.submitMany(tasks);
      },
      run: async () => {
        await side.drain(concurrency);
        return tasks;
      },
    });
    await compare(stage, `drain, concurrency ${concurrency}`, work(sides.raw), work(sides.wadi));
  }
  await each(sides, (side) => side.clear());
}

export async function latency(stage: Stage): Promise<void> {
  const { sides, size } = stage;
  const times = Math.max(5, Math.floor(size.steps / 4));
  const work = (side: Side) => repeat(side.call, times);
  await compare(stage, "call, submit to result", work(sides.raw), work(sides.wadi));
  await each(sides, (side) => side.clear());
}

/**
 * The tasks that the floor claims and settles at a time, as a worker does: it claims once half its prefetch is left.
 */
const AHEAD = 500;

export async function prefetch(stage: Stage): Promise<void> {
  const { sides, size } = stage;
  const concurrency = 16;
  const work = (side: Side) => ({
    prepare: async () => {
      await side.clear();
      await side.submitMany(size.ahead);
    },
    run: async () => {
      await side.drainAhead(concurrency, AHEAD);
      return size.ahead;
    },
  });
  const workload = `drain, concurrency ${concurrency}, prefetch ${2 * AHEAD} (floor: ${AHEAD} a round trip)`;
  await compare(stage, workload, work(sides.raw), work(sides.wadi));
  await each(sides, (side) => side.clear());
}

export async function signals(stage: Stage): Promise<void> {
  const { sides, size } = stage;
  const workload = "call, served on a signal, at p50";
  if (!stage.wants(workload)) return;
  const [raw, wadi] = [await sides.raw.serve(), await sides.wadi.serve()];
  try {
    await comparePace(stage, workload, raw.call, wadi.call, Math.max(5, Math.floor(size.steps / 4)));
  } finally {
    await raw.stop();
    await wadi.stop();
  }
  await each(sides, (side) => side.clear());
}

const BACKLOGS = [
  ["1k due", { due: 1000, notDue: 0, finished: 0 }],
  ["100k due, 100k not due, 300k finished", { due: 100_000, notDue: 100_000, finished: 300_000 }],
  ["1M due", { due: 1_000_000, notDue: 0, finished: 0 }],
] as const;

const OPERATIONS = [
  ["claim of 1", (side: Side) => () => side.claim(1)],
  ["claim of 10", (side: Side) => () => side.claim(10)],
  ["empty poll", (side: Side) => side.poll],
] as const;

/** Claims and empty polls against a growing table; then how much slower each is than on the small one. */
export async function backlogs(stage: Stage): Promise<void> {
  const { engine, sides, size, wants, report } = stage;
  const times = Math.max(20, Math.floor(size.steps / 5));
  const small = new Map<string, number>();
  for (const [name, backlog] of BACKLOGS) {
    // Filling the table takes longer than anything else here.
    if (!OPERATIONS.some(([what]) => wants(`${what}, ${name}`))) continue;
    await each(sides, async (side) => {
      await side.clear();
      await side.fill(backlog);
    });
    for (const [what, operation] of OPERATIONS) {
      const workload = `${what}, ${name}`;
      const work = (side: Side) => repeat(operation(side), times);
      const result = await compare(stage, workload, work(sides.raw), work(sides.wadi));
      if (result === undefined) continue;
      const floor = small.get(what);
      if (floor !== undefined)
        report(resultOf(engine, `${workload} (floor: Wadi at 1k)`, floor, result.wadi));
      else if (name === BACKLOGS[0][0]) small.set(what, result.wadi);
    }
  }
  await each(sides, (side) => side.clear());
}
