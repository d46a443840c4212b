// A process of the soak: it serves or produces as its parent orders, reports what happens, and ends with its parent.
import type { Executor } from "../../src/driver.ts";
import { Wadi, WadiError, Worker } from "../../src/index.ts";
import { type Address, type Connection, connect } from "../../testing/races/connect.ts";
import { claimOf } from "../../testing/races/jobs.ts";
import { type Order, type Report, type ServeJob, SOAK_TASK } from "./messages.ts";
import { produce } from "./produce.ts";

/** Connections of a worker: one listens. */
const POOL = 4;

const address: Address = JSON.parse(process.argv[2]!);
const stopped = new AbortController();
let executor: Executor | undefined;
const report = (message: Report) => process.connected && process.send!(message);

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
    onError: (error, { operation }) => report({ failure: inShort(operation, error) }),
  }).task(SOAK_TASK, async (context) => {
    await new Promise((resolve) => setTimeout(resolve, Number(context.payload)));
    return claimOf(context);
  });
  report({ ready: true });
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
    return report({ sample: { heapUsed, rss } });
  }
  if ("maxPages" in order) {
    const sql = `pragma max_page_count = ${order.maxPages}`;
    return void executor
      ?.run({ sql, params: [] })
      .catch((error) => report({ failure: inShort("limit", error) }));
  }
  const connection = await connect(address, POOL);
  executor = connection.executor;
  if ("serve" in order) await serve(connection, order.serve);
  else {
    report({ ready: true });
    await produce(new Wadi(connection.executor), order.produce, stopped.signal, {
      accepted: (ids) => report({ accepted: ids }),
      failed: (error) => report({ failure: inShort("submit", error) }),
    });
    await connection.close();
  }
  process.disconnect();
});
