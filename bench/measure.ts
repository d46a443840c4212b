/** One line of the report. `floor` and `wadi` are operations (or tasks) a second, `ratio` is wadi / floor. */
export interface Result {
  readonly engine: string;
  readonly workload: string;
  readonly floor: number;
  readonly wadi: number;
  readonly ratio: number;
}

/** Which workloads are run on an engine, how often, and where their results go. */
export interface Scope {
  readonly engine: string;
  readonly rounds: number;
  readonly wants: (workload: string) => boolean;
  readonly report: (result: Result) => void;
}

/** The work that is timed, and what runs before each timing. Returns the number of operations. */
export interface Work {
  readonly prepare?: () => Promise<void>;
  readonly run: () => Promise<number>;
}

const median = (values: readonly number[]) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

async function rate({ prepare, run }: Work): Promise<number> {
  await prepare?.();
  const started = performance.now();
  const operations = await run();
  return operations / ((performance.now() - started) / 1000);
}

/**
 * Runs both sides in turn, so that other load on the machine affects both, and reports how their medians compare.
 * A workload that is not wanted is not run and has no result.
 */
export async function compare(
  { engine, rounds, wants, report }: Scope,
  workload: string,
  floor: Work,
  wadi: Work,
): Promise<Result | undefined> {
  if (!wants(workload)) return undefined;
  const rates: { floor: number[]; wadi: number[] } = { floor: [], wadi: [] };
  await rate(floor); // warm-up
  await rate(wadi);
  for (let round = 0; round < rounds; round++) {
    rates.floor.push(await rate(floor));
    rates.wadi.push(await rate(wadi));
  }
  const result = resultOf(engine, workload, median(rates.floor), median(rates.wadi));
  report(result);
  return result;
}

/** Operations of one side before the other's turn: few, so that other load on the machine affects both. */
const TURN = 16;

/**
 * Runs both sides in turn, one operation at a time, and reports how their median durations compare: as operations a
 * second, so that a ratio of 0.5 is twice the time.
 */
export async function comparePace(
  { engine, rounds, wants, report }: Scope,
  workload: string,
  floor: () => Promise<void>,
  wadi: () => Promise<void>,
  times: number,
): Promise<void> {
  if (!wants(workload)) return;
  const taken: { floor: number[]; wadi: number[] } = { floor: [], wadi: [] };
  const turn = Math.min(TURN, times);
  for (let done = -times; done < times * rounds; done += turn) {
    const [floorMs, wadiMs] = [await durationsMs(floor, turn), await durationsMs(wadi, turn)];
    if (done < 0) continue; // warm-up
    taken.floor.push(...floorMs);
    taken.wadi.push(...wadiMs);
  }
  report(resultOf(engine, workload, 1000 / median(taken.floor), 1000 / median(taken.wadi)));
}

async function durationsMs(operation: () => Promise<void>, times: number): Promise<number[]> {
  const taken: number[] = [];
  for (let i = 0; i < times; i++) {
    const started = performance.now();
    await operation();
    taken.push(performance.now() - started);
  }
  return taken;
}

export function resultOf(engine: string, workload: string, floor: number, wadi: number): Result {
  return { engine, workload, floor, wadi, ratio: wadi / floor };
}

/** Work that repeats one operation, `inFlight` at a time. */
export function repeat(operation: () => Promise<void>, times: number, inFlight = 1): Work {
  return {
    async run() {
      for (let done = 0; done < times; done += inFlight) {
        if (inFlight === 1) await operation();
        else await Promise.all(Array.from({ length: inFlight }, operation));
      }
      return times;
    },
  };
}
