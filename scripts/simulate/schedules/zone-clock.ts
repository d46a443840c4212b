/** The clock on the wall of a time zone, from the offsets that `Intl` gives: an oracle without croner. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** From `fromMs` on, until the next one, local time is UTC plus `offsetMs`. */
interface Span {
  readonly fromMs: number;
  readonly offsetMs: number;
}

export interface DailyTimes {
  /** Minutes of the day on the clock on the wall. */
  readonly minutes: readonly number[];
  /** Whether the expression has a wildcard or a step in its hour or minute. */
  readonly isWild: boolean;
}

export class ZoneClock {
  readonly #spans: readonly Span[];
  readonly #startMs: number;
  readonly #endMs: number;

  constructor(timeZone: string, startMs: number, endMs: number) {
    const offsetAt = offsets(timeZone);
    const spans: Span[] = [{ fromMs: startMs - 48 * HOUR, offsetMs: offsetAt(startMs - 48 * HOUR) }];
    for (let ms = startMs - 47 * HOUR; ms <= endMs + 48 * HOUR; ms += HOUR) {
      const offsetMs = offsetAt(ms);
      if (offsetMs === spans.at(-1)!.offsetMs) continue;
      let [low, high] = [ms - HOUR, ms];
      while (high - low > MINUTE) {
        const middle = low + Math.floor((high - low) / 2 / MINUTE) * MINUTE;
        if (offsetAt(middle) === offsetMs) high = middle;
        else low = middle;
      }
      spans.push({ fromMs: high, offsetMs });
    }
    this.#spans = spans;
    this.#startMs = startMs;
    this.#endMs = endMs;
  }

  /** When the clocks are set. */
  get changes(): readonly number[] {
    return this.#spans.slice(1).map(({ fromMs }) => fromMs);
  }

  /** The slots after the start and up to the end of an expression that names these minutes of each day. */
  slots({ minutes, isWild }: DailyTimes): number[] {
    const slots = new Set<number>();
    const firstDay = Math.floor((this.#startMs - 24 * HOUR) / (24 * HOUR)) * 24 * HOUR;
    for (let day = firstDay; day <= this.#endMs + 24 * HOUR; day += 24 * HOUR)
      for (const minute of minutes) {
        const instants = this.#instants(day + minute * MINUTE);
        for (const instant of isWild ? instants.found : [instants.found[0] ?? instants.afterGap])
          if (instant > this.#startMs && instant <= this.#endMs) slots.add(instant);
      }
    return [...slots].sort((a, b) => a - b);
  }

  /** When the clock on the wall shows a time: once, twice, or never, and then the end of the gap. */
  #instants(localMs: number): { readonly found: readonly number[]; readonly afterGap: number } {
    const found: number[] = [];
    let afterGap = 0;
    this.#spans.forEach(({ fromMs, offsetMs }, i) => {
      const instant = localMs - offsetMs;
      const untilMs = this.#spans[i + 1]?.fromMs ?? Number.POSITIVE_INFINITY;
      if (instant >= fromMs && instant < untilMs) found.push(instant);
      if (instant < fromMs && afterGap === 0 && i > 0) afterGap = fromMs;
    });
    return { found, afterGap };
  }
}

function offsets(timeZone: string): (ms: number) => number {
  const fields = {
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
  } as const;
  const format = new Intl.DateTimeFormat("en-US", { ...fields, timeZone, hourCycle: "h23" });
  return (ms) => {
    const parts = Object.fromEntries(
      format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]),
    );
    const local = Date.UTC(parts.year!, parts.month! - 1, parts.day!, parts.hour!, parts.minute!);
    return local - ms;
  };
}
