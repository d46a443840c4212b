// Judges from samples whether the memory of a process grows.

import type { Sample } from "./messages.ts";

const MB = 1024 * 1024;
/** Earlier samples are the warm-up: compiled code, caches, pools. */
const WARM_UP = 0.25;
/** Growth over the whole run that is not yet a leak: caches of a few megabytes fill late. */
const TOLERANCE_MB = 8;

export interface Memory {
  readonly heapStartMb: number;
  readonly heapEndMb: number;
  readonly heapMaxMb: number;
  /** Of a line through the samples after the warm-up. */
  readonly heapSlopeMbPerMinute: number;
  readonly rssStartMb: number;
  readonly rssEndMb: number;
  readonly rssMaxMb: number;
  readonly isFlat: boolean;
}

/** The growth of a process's memory, from samples taken at even times over `minutes`. */
export function memoryOf(samples: readonly Sample[], minutes: number): Memory {
  const warm = samples.slice(Math.floor(samples.length * WARM_UP));
  const heap = warm.map(({ heapUsed }) => heapUsed / MB);
  const rss = warm.map((sample) => sample.rss / MB);
  const end = Math.max(1, Math.floor(warm.length / 5));
  const slope = slopeOf(heap) / ((minutes * (1 - WARM_UP)) / Math.max(1, heap.length - 1));
  return {
    heapStartMb: round(mean(heap.slice(0, end))),
    heapEndMb: round(mean(heap.slice(-end))),
    heapMaxMb: round(Math.max(...heap)),
    heapSlopeMbPerMinute: round(slope),
    rssStartMb: round(mean(rss.slice(0, end))),
    rssEndMb: round(mean(rss.slice(-end))),
    rssMaxMb: round(Math.max(...rss)),
    isFlat: slope * minutes < TOLERANCE_MB,
  };
}

/** The slope by least squares, where samples are one apart. */
function slopeOf(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const middle = (values.length - 1) / 2;
  const average = mean(values);
  let above = 0;
  let below = 0;
  for (const [x, y] of values.entries()) {
    above += (x - middle) * (y - average);
    below += (x - middle) ** 2;
  }
  return above / below;
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const round = (value: number) => Math.round(value * 100) / 100;
