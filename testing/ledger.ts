import type { Executor, Row, Statement, Value } from "../src/core/executor.ts";
import { type Task, Wadi, type WadiOptions } from "../src/index.ts";
import { storeOf } from "./store.ts";
import type { OpenTarget, Target } from "./target.ts";

/** A database with a table of the application, `ledger(id, n)`, and clients of it. */
export interface OwnRows {
  readonly target: OpenTarget;
  readonly executor: Executor;
  readonly wadi: Wadi;
  /** A second client on another connection. */
  other(options?: WadiOptions): Promise<Wadi>;
  /** `insert into ledger` of one row. */
  insert(id: string, n?: Value): Statement;
  /** The ids in the ledger, sorted. */
  ledger(): Promise<string[]>;
  run(sql: string, ...params: Value[]): Promise<Row[]>;
  close(): Promise<void>;
}

export async function openOwnRows({ open, dialect }: Target, options?: WadiOptions): Promise<OwnRows> {
  const target = await open();
  const { executor } = target;
  const wadi = new Wadi(executor, options);
  await wadi.migrate();
  const number = dialect === "sqlite" ? "integer" : "bigint";
  const run = (sql: string, ...params: Value[]) =>
    executor.run({ sql: withPlaceholders(dialect, sql), params });
  await run(`create table ledger (id text primary key, n ${number})`);
  await wadi.getStatus("none"); // what a first request carries is sent
  return {
    target,
    executor,
    wadi,
    other: async (own) => new Wadi(await target.connect(), own ?? options),
    insert: (id, n = 1) => ({
      sql: withPlaceholders(dialect, "insert into ledger (id, n) values (?, ?)"),
      params: [id, n],
    }),
    ledger: async () => (await run("select id from ledger order by id")).map(({ id }) => String(id)),
    run,
    close: () => target.close(),
  };
}

function withPlaceholders(dialect: Target["dialect"], sql: string): string {
  let n = 0;
  return dialect === "sqlite" ? sql : sql.replace(/\?/g, () => `$${++n}`);
}

let claims = 0;

/** Claims up to `limit` due tasks of the default queue under a new token. */
export async function claim(wadi: Wadi, leaseMs = 60_000, limit = 1): Promise<Task[]> {
  const lanes = [{ queue: "default", name: null, quota: limit }];
  const workerId = `test:${process.pid}-${++claims}`;
  return (await storeOf(wadi).claim({ pools: [{ lanes, limit }], workerId, leaseMs, limited: false })).tasks;
}

/** Queues a task and claims it. */
export async function claimed(wadi: Wadi, leaseMs?: number): Promise<Task> {
  await wadi.submit("work", null);
  const [task] = await claim(wadi, leaseMs);
  if (task === undefined) throw new Error("nothing was claimed");
  return task;
}
