import { compare, type Result, repeat } from "./measure.ts";
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
  readonly rounds: number;
}

type Report = (result: Result) => void;

async function each(sides: Sides, work: (side: Side) => Promise<void>): Promise<void> {
  await work(sides.raw);
  await work(sides.wadi);
}

export async function submits(engine: string, sides: Sides, size: Size, report: Report): Promise<void> {
  const { raw, wadi } = sides;
  const same = (operation: (side: Side) => () => Promise<void>, times: number, workload: string) =>
    compare(engine, workload, repeat(operation(raw), times), repeat(operation(wadi), times), size.rounds);
  report(await same((side) => side.submit, size.steps, "submit, sequential"));
  report(
    await compare(
      engine,
      "submit, 64 in flight (floor: sequential)",
      repeat(raw.submit, size.steps),
      repeat(wadi.submit, Math.max(64, size.steps - (size.steps % 64)) * 2, 64),
      size.rounds,
    ),
  );
  const many = (side: Side) => ({
    run: async () => {
      await side.submitMany(size.bulk);
      return size.bulk;
    },
  });
  report(await compare(engine, `submitMany, ${size.bulk}`, many(raw), many(wadi), size.rounds));
  report(await same((side) => side.submitNewKey, size.steps, "keyed submit, new key"));
  report(await same((side) => side.submitExistingKey, size.steps, "keyed submit, existing key"));
  await each(sides, (side) => side.clear());
}

export async function drains(
  engine: string,
  sides: Sides,
  size: Size,
  concurrencies: readonly number[],
  report: Report,
): Promise<void> {
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
    report(
      await compare(
        engine,
        `drain, concurrency ${concurrency}`,
        work(sides.raw),
        work(sides.wadi),
        size.rounds,
      ),
    );
  }
  await each(sides, (side) => side.clear());
}

export async function latency(engine: string, sides: Sides, size: Size, report: Report): Promise<void> {
  const times = Math.max(5, Math.floor(size.steps / 4));
  report(
    await compare(
      engine,
      "call, submit to result",
      repeat(sides.raw.call, times),
      repeat(sides.wadi.call, times),
      size.rounds,
    ),
  );
  await each(sides, (side) => side.clear());
}

const BACKLOGS = [
  ["1k due", { due: 1000, notDue: 0, finished: 0 }],
  ["100k due, 100k not due, 300k finished", { due: 100_000, notDue: 100_000, finished: 300_000 }],
  ["1M due", { due: 1_000_000, notDue: 0, finished: 0 }],
] as const;

/** Claims and empty polls against a growing table; then how much slower each is than on the small one. */
export async function backlogs(engine: string, sides: Sides, size: Size, report: Report): Promise<void> {
  const small = new Map<string, number>();
  for (const [name, backlog] of BACKLOGS) {
    await each(sides, async (side) => {
      await side.clear();
      await side.fill(backlog);
    });
    const operations = [
      ["claim of 1", (side: Side) => () => side.claim(1)],
      ["claim of 10", (side: Side) => () => side.claim(10)],
      ["empty poll", (side: Side) => side.poll],
    ] as const;
    for (const [what, operation] of operations) {
      const times = Math.max(20, Math.floor(size.steps / 5));
      const work = (side: Side) => repeat(operation(side), times);
      const result = await compare(
        engine,
        `${what}, ${name}`,
        work(sides.raw),
        work(sides.wadi),
        size.rounds,
      );
      report(result);
      const floor = small.get(what);
      if (floor === undefined) small.set(what, result.wadi);
      else
        report({
          engine,
          workload: `${what}, ${name} (floor: Wadi at 1k)`,
          floor,
          wadi: result.wadi,
          ratio: result.wadi / floor,
        });
    }
  }
  await each(sides, (side) => side.clear());
}
