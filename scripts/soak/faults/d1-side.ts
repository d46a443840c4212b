import { type D1Like, type D1ResultLike, type D1StatementLike, d1 } from "../../../src/drivers/d1.ts";
import { Wadi, Worker } from "../../../src/index.ts";
import { openD1 } from "../../../testing/d1.ts";
import { type OpenSide, pause, prepare } from "./side.ts";
import { type Accepted, handler, submit, TASK } from "./tasks.ts";

/** Queries that an invocation may send on the platform's free plan. */
const QUERIES = 50;
const LEASE_MS = 5000;
const BUDGET_MS = 8000;
const MAX_ATTEMPTS = 3;
/** An invocation that leaves tasks after this number of queries was ended by its limit. */
const NEARLY = 30;
/** Tasks for one invocation: more than it can run. */
const BACKLOG = 60;
/** Few slots, so that an invocation reaches its limit after few tasks. */
const CONCURRENCY = 3;
const EVERY_MS = 1000;

/** D1 in workerd, and invocations that are refused every query beyond the limit of the free plan. */
export const openD1Side: OpenSide = async (scene, perSecond) => {
  const { binding, close } = await openD1();
  const direct = d1(binding);
  const producer = new Wadi(direct);
  await prepare(producer);
  const accepted: Accepted[] = [];
  const name = "d1";
  const run = handler(scene.ledger, name);
  const ended = new AbortController();

  async function invoke(): Promise<void> {
    const limited = new LimitedD1(binding);
    const options = {
      name,
      leaseMs: LEASE_MS,
      concurrency: CONCURRENCY,
      backoff: { baseMs: 50, capMs: 500 },
      logger: null,
    };
    const worker = new Worker(new Wadi(d1(limited)), options).task(TASK, run);
    let more = true;
    try {
      ({ more } = await worker.drain({ budgetMs: BUDGET_MS }));
    } catch (error) {
      scene.recovered(`drain: ${String(error)}`);
    }
    if (limited.refused > 0 || (more && limited.sent >= NEARLY)) scene.log.add("queryLimit", name);
  }

  /** One invocation after the other, as a cron trigger that never rests. */
  async function drain(): Promise<void> {
    while (!ended.signal.aborted) {
      await invoke();
      await pause(50, ended.signal);
    }
  }
  const draining = drain();

  return {
    name,
    leaseMs: LEASE_MS,
    accepted,
    direct,
    async work(signal) {
      const tasks = Math.max(BACKLOG, perSecond);
      while (!signal.aborted) {
        await submit(producer, tasks, { maxAttempts: MAX_ATTEMPTS }, accepted);
        // The backlog is bounded: nothing is submitted while it is full.
        do await pause(EVERY_MS, signal);
        while (!signal.aborted && (await producer.queueHeadroom("default", 3 * tasks)) === 0);
      }
    },
    async close() {
      ended.abort();
      await draining;
      close();
    },
  };
};

/** The binding of one invocation. Queries beyond the limit are refused, as on the platform. */
class LimitedD1 implements D1Like<LimitedStatement> {
  sent = 0;
  refused = 0;
  readonly #binding: D1Like;

  constructor(binding: D1Like) {
    this.#binding = binding;
  }

  prepare(sql: string): LimitedStatement {
    return new LimitedStatement(this.#binding.prepare(sql), this);
  }

  async batch(statements: LimitedStatement[]): Promise<D1ResultLike[]> {
    this.spend(statements.length);
    return this.#binding.batch(statements.map(({ inner }) => inner));
  }

  spend(queries: number): void {
    if (this.sent + queries > QUERIES) {
      this.refused++;
      throw new Error("D1_ERROR: Too many API requests by single Worker invocation.");
    }
    this.sent += queries;
  }
}

class LimitedStatement implements D1StatementLike {
  readonly inner: D1StatementLike;
  readonly #owner: LimitedD1;

  constructor(inner: D1StatementLike, owner: LimitedD1) {
    this.inner = inner;
    this.#owner = owner;
  }

  bind(...values: unknown[]): LimitedStatement {
    return new LimitedStatement(this.inner.bind(...values), this.#owner);
  }

  async all(): Promise<D1ResultLike> {
    this.#owner.spend(1);
    return this.inner.all();
  }
}
