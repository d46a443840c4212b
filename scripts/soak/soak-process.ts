// A process of the soak. It serves or produces as its parent says, tells what happens, and ends with its parent.
import { type Executor, Wadi, WadiError, Worker } from "../../src/index.ts";
import { type Address, type Connection, connect } from "../../testing/races/connect.ts";
import { claimOf } from "../../testing/races/jobs.ts";
import type { DiskOrder } from "./engines.ts";
import { produce } from "./produce.ts";

export interface ServeJob {
  readonly name: string;
  readonly leaseMs: number;
  readonly concurrency: number;
  /** Ended tasks are deleted after this. */
  readonly keepMs: number;
}

export interface ProduceJob {
  readonly tasksPerSecond: number;
  /** So that several producers use the same keys. */
  readonly keys: number;
}

export type Order = { serve: ServeJob } | { produce: ProduceJob } | DiskOrder | "sample" | "stop";

export interface Sample {
  readonly heapUsed: number;
  readonly rss: number;
}

/** What a process tells, in batches where it is much. */
export type Report =
  | { accepted: string[] }
  /** A submit that failed, or something a worker survived, in short. */
  | { failure: string }
  | { sample: Sample }
  | { ready: true };

/** Connections of a worker: one listens. */
const POOL = 4;
export const SOAK_TASK = "soak";

const address: Address = JSON.parse(process.argv[2]!);
const stopped = new AbortController();
let executor: Executor | undefined;
const tell = (report: Report) => process.connected && process.send!(report);

/** The error in a few words: its code, and that of the client's error below it. */
function inShort(operation: string, error: unknown): string {
  const { code, cause, message } = error as WadiError & { cause?: { code?: string; message?: string } };
  const below = cause?.code ?? cause?.message ?? (WadiError.is(error) ? "" : message);
  return [operation, code, below].filter(Boolean).join(" ").slice(0, 120);
}

async function serve(connection: Connection, { name, leaseMs, concurrency, keepMs }: ServeJob) {
  const wadi = new Wadi(connection.executor);
  const worker = new Worker(wadi, {
    name,
    leaseMs,
    concurrency,
    prefetch: concurrency,
    maxPollMs: 1000,
    retention: [{ olderThanMs: keepMs }],
    sweepMs: 5000,
    onError: (error, { operation }) => tell({ failure: inShort(operation, error) }),
  }).task(SOAK_TASK, async (context) => {
    await new Promise((resolve) => setTimeout(resolve, Number(context.payload)));
    return claimOf(context);
  });
  tell({ ready: true });
  await worker.serve({ graceMs: 5000 });
  await wadi.close();
  await connection.close();
}

process.on("disconnect", () => process.exit());
process.on("message", async (order: Order) => {
  if (order === "stop") return stopped.abort();
  if (order === "sample") {
    globalThis.gc!();
    const { heapUsed, rss } = process.memoryUsage();
    return tell({ sample: { heapUsed, rss } });
  }
  if ("maxPages" in order) {
    const sql = `pragma max_page_count = ${order.maxPages}`;
    return void executor
      ?.run({ sql, params: [] })
      .catch((error) => tell({ failure: inShort("limit", error) }));
  }
  const connection = await connect(address, POOL);
  executor = connection.executor;
  if ("serve" in order) await serve(connection, order.serve);
  else {
    tell({ ready: true });
    await produce(new Wadi(connection.executor), order.produce, stopped.signal, {
      accepted: (ids) => tell({ accepted: ids }),
      failed: (error) => tell({ failure: inShort("submit", error) }),
    });
    await connection.close();
  }
  process.disconnect();
});
