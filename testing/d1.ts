// Fresh D1 databases in workerd (Miniflare), up to 64 for each runtime, with a meter of what was sent.

import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import type { D1Like, D1ResultLike, D1StatementLike } from "../src/drivers/d1.ts";
import type { Meter } from "./target.ts";

const DATABASES = 64;
const LINGER_MS = 1000;

interface Runtime {
  miniflare: Miniflare;
  used: number;
  open: number;
  stopped: boolean;
}

let runtime: Runtime | undefined;

export interface OpenD1 {
  binding: D1Like;
  /** The binding of the runtime itself, for tests that use methods which Wadi does not need. */
  raw: unknown;
  meter(): Meter;
  close(): void;
}

/**
 * A fresh, empty D1 database in workerd. Starting that takes half a second, so all databases of a process share
 * one; it ends a moment after the last of them is closed.
 */
export async function openD1(): Promise<OpenD1> {
  if (runtime === undefined || runtime.used === DATABASES) runtime = start();
  const { miniflare, used } = runtime;
  const own = runtime;
  own.used++;
  own.open++;
  const meter: Meter = { roundTrips: 0, statements: 0, rowsRead: 0, rowsWritten: 0 };
  const raw: unknown = await miniflare.getD1Database(`DB${used}`);
  return {
    binding: metered(raw as D1Like, meter),
    raw,
    meter: () => ({ ...meter }),
    close() {
      own.open--;
      setTimeout(() => stopIfUnused(own), LINGER_MS).unref();
    },
  };
}

function start(): Runtime {
  const names = Array.from({ length: DATABASES }, (_, index) => [`DB${index}`, `db${index}`]);
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: "export default {}",
      compatibilityDate: "2026-08-01",
      d1Databases: Object.fromEntries(names),
    }),
  );
  return { miniflare, used: 0, open: 0, stopped: false };
}

function stopIfUnused(own: Runtime): void {
  if (own.open > 0 || own.stopped) return;
  own.stopped = true;
  if (runtime === own) runtime = undefined;
  void own.miniflare.dispose();
}

type Meta = D1ResultLike & { meta: { rows_read: number; rows_written: number } };

/** The binding, with a count of the calls that reach it and of the rows that it reports. */
function metered(real: D1Like, meter: Meter): D1Like<MeteredStatement> {
  const count = (results: D1ResultLike[]) => {
    meter.roundTrips++;
    for (const { meta } of results as Meta[]) {
      meter.statements++;
      meter.rowsRead! += meta.rows_read;
      meter.rowsWritten! += meta.rows_written;
    }
    return results;
  };
  return {
    prepare: (sql) => new MeteredStatement(real.prepare(sql), count),
    batch: async (statements) => count(await real.batch(statements.map(({ inner }) => inner))),
  };
}

class MeteredStatement implements D1StatementLike {
  readonly inner: D1StatementLike;
  readonly #count: (results: D1ResultLike[]) => D1ResultLike[];

  constructor(inner: D1StatementLike, count: (results: D1ResultLike[]) => D1ResultLike[]) {
    this.inner = inner;
    this.#count = count;
  }

  bind(...values: unknown[]): MeteredStatement {
    return new MeteredStatement(this.inner.bind(...values), this.#count);
  }

  async all(): Promise<D1ResultLike> {
    return this.#count([await this.inner.all()])[0]!;
  }
}
