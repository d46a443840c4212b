// Nothing is written to a database of another protocol version.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Executor } from "../../../src/driver.ts";
import { Wadi, Worker } from "../../../src/index.ts";
import { storeOf } from "../../../testing/store.ts";
import type { OpenTarget } from "../../../testing/target.ts";
import { pickTargets } from "../../../testing/targets.ts";

const REFUSED = { name: "ProtocolVersionMismatch", code: "PROTOCOL_VERSION_MISMATCH", retryable: false };
const VERSION_2 = "update cairnq_meta set value = '2' where key = 'protocol_version'";
const LANES = [{ queue: "default", name: "held", quota: 9 }];
const PURGE = { olderThanMs: 0 };

/** Every way to write, on tasks that exist (`held` runs under `w:1`, `done` has ended) and on ones that do not. */
const WRITES: Record<
  string,
  (wadi: Wadi, ids: { held: string; done: string; none: string }) => Promise<unknown>
> = {
  submit: (w) => w.submit("a", 1),
  "submit with limits": (w) => w.submit("a", 1, { limits: { key: "k", concurrency: 1 } }),
  submitMany: (w) => w.submitMany("a", [{ payload: 1 }, { payload: 2 }]),
  "submit with a key": (w) => w.submit("a", 1, { key: "new" }),
  "submit that finds its task": (w) => w.submit("held", 1, { key: "held" }),
  "submit that replaces": (w) => w.submit("held", 1, { key: "held", conflict: "replace" }),
  "submit that debounces": (w) => w.submit("held", 1, { key: "held", debounce: { delayMs: 5 } }),
  cancel: (w, { held }) => w.cancel(held),
  "cancel of what has ended": (w, { done }) => w.cancel(done),
  "cancel of nothing": (w, { none }) => w.cancel(none),
  cancelByKey: (w) => w.cancelByKey("held"),
  retry: (w, { done }) => w.retry(done),
  "retry of nothing": (w, { none }) => w.retry(none),
  retryByKey: (w) => w.retryByKey("none"),
  purge: (w) => w.purge(PURGE),
  "purge of nothing": (w) => w.purge({ ...PURGE, queue: "none", status: "failed", name: "none" }),
  sweep: (w) => w.sweep([{ olderThanMs: 3_600_000 }]),
  claim: (w) =>
    storeOf(w).claim({
      pools: [{ lanes: LANES, limit: 9 }],
      workerId: "w:2",
      leaseMs: 60_000,
      limited: false,
    }),
  "claim of nothing": (w) =>
    storeOf(w).claim({
      pools: [{ lanes: [{ ...LANES[0]!, name: "none" }], limit: 9 }],
      workerId: "w:2",
      leaseMs: 60_000,
      limited: false,
    }),
  "limited claim": (w) =>
    storeOf(w).claim({
      pools: [{ lanes: LANES, limit: 9 }],
      workerId: "w:2",
      leaseMs: 60_000,
      limited: true,
    }),
  heartbeat: (w, { held }) => storeOf(w).heartbeat([{ id: held, workerId: "w:1" }], 60_000),
  "heartbeat of a lost lease": (w, { held }) => storeOf(w).heartbeat([{ id: held, workerId: "w:0" }], 60_000),
  progress: (w, { held }) =>
    storeOf(w).progress({ id: held, workerId: "w:1" }, { progress: 0.5, message: null }),
  "progress under a lost lease": (w, { none }) =>
    storeOf(w).progress({ id: none, workerId: "w:1" }, { progress: 0.5, message: null }),
  settle: (w, { held }) =>
    storeOf(w).settle([{ id: held, workerId: "w:1", attempt: 1, outcome: "complete", resultJson: "1" }]),
  "settle under a lost lease": (w, { none }) =>
    storeOf(w).settle([{ id: none, workerId: "w:1", attempt: 1, outcome: "complete", resultJson: "1" }]),
  "settle of a failure": (w, { held }) =>
    storeOf(w).settle([
      {
        ...{ id: held, workerId: "w:1", attempt: 1, outcome: "fail" },
        error: { type: "E", code: "e", message: "m", retryable: false, details: {} },
      },
    ]),
};

describe.each(pickTargets(["better-sqlite3-memory", "libsql-file", "d1", "pg", "neon-http"]))(
  "on $name",
  (target) => {
    let open: OpenTarget;
    let wadi: Wadi;

    beforeEach(async () => {
      open = await target.open();
      wadi = new Wadi(open.executor);
    });

    afterEach(() => open.close());

    const run = (sql: string, executor: Executor = open.executor) => executor.run({ sql, params: [] });

    const tables = async () => [
      await run("select * from cairnq_tasks order by id"),
      await run("select * from cairnq_task_keys order by key"),
      await run("select * from wadi_failures"),
      await run("select * from wadi_limits"),
    ];

    test("a client that runs already writes nothing once the version is another one", async () => {
      const done = await wadi.submit("done", 1);
      await wadi.cancel(done.id);
      const held = await wadi.submit("held", 1, { key: "held" });
      await storeOf(wadi).claim({
        pools: [{ lanes: LANES, limit: 1 }],
        workerId: "w:1",
        leaseMs: 600_000,
        limited: false,
      });
      await wadi.submit("held", 2);
      const ids = { held: held.id, done: done.id, none: "task_none" };
      const fresh = new Wadi(await open.connect());
      const worker = new Worker(wadi).task("held", () => 1);
      await run(VERSION_2);
      const before = await tables();
      for (const [what, write] of Object.entries(WRITES)) {
        for (const client of [wadi, fresh])
          await expect(write(client, ids), what).rejects.toMatchObject({
            ...REFUSED,
            message: expect.stringContaining("version 2"),
          });
      }
      await expect(worker.drain()).rejects.toMatchObject(REFUSED);
      expect(await tables()).toEqual(before);
      expect(await wadi.get(held.id)).toMatchObject({ status: "running" });
      await fresh.close();
    });

    test("a worker whose handler returns after the change ends with the refusal, not with a lost lease", async () => {
      const { id } = await wadi.submit("a", 1);
      const worker = new Worker(wadi).task("a", async (c) => {
        await run(VERSION_2);
        await expect(c.progress(0.5)).rejects.toMatchObject(REFUSED);
        await expect(c.submit("b", 1)).rejects.toMatchObject(REFUSED);
        return 1;
      });
      await expect(worker.drain()).rejects.toMatchObject(REFUSED);
      expect(await wadi.get(id)).toMatchObject({ status: "running", attempt: 1, error: null });
    });

    test("a database without the row is of the known version", async () => {
      await wadi.submit("a", 1);
      await run("delete from cairnq_meta where key = 'protocol_version'");
      expect(await new Worker(wadi).task("a", () => 1).drain()).toMatchObject({ succeeded: 1 });
      await wadi.submit("a", 1, { key: "k" });
    });

    test("no statement is spent on it", async () => {
      await wadi.migrate();
      const other = new Wadi(open.executor);
      const from = open.meter().statements;
      await other.submit("a", 1);
      expect(open.meter().statements - from).toBe(1);
    });
  },
);
