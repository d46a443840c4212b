// A worker process of the soak with faults: it works until it is asked to stop, or until a poison task kills it.
import { Wadi, Worker } from "../../../src/index.ts";
import { type Address, connect } from "../../../testing/races/connect.ts";
import { Ledger } from "./ledger.ts";
import { handler, TASK } from "./tasks.ts";

export interface WorkerJob {
  readonly name: string;
  readonly address: Address;
  readonly ledger: string;
  readonly leaseMs: number;
  readonly concurrency: number;
  readonly prefetch: number;
  /** @default "default" */
  readonly queue?: string;
}

/** Connections on Postgres: one listens. */
const POOL = 4;

const job: WorkerJob = JSON.parse(process.argv[2]!);
const { executor, close } = await connect(job.address, POOL);
const wadi = new Wadi(executor);
const worker = new Worker(wadi, {
  name: job.name,
  queue: job.queue,
  leaseMs: job.leaseMs,
  concurrency: job.concurrency,
  prefetch: job.prefetch,
  backoff: { baseMs: 50, capMs: 500 },
  pollMs: 100,
  maxPollMs: 500,
  onError: (error, { operation }) => process.send?.({ recovered: `${operation}: ${String(error)}` }),
  logger: null,
}).task(TASK, handler(new Ledger(job.ledger), job.name));
process.on("disconnect", () => process.exit());
process.on("message", () => void worker.stop({ graceMs: 3000 }));
await worker.run();
await wadi.close();
await close();
process.disconnect();
