// A listening connection proves that it receives notifications.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, describe, expect, it, vi } from "vitest";
import { pg } from "../../../src/drivers/pg.ts";
import { Wadi, Worker } from "../../../src/index.ts";
import { pgFixture, sql } from "../../../testing/pg-fixture.ts";
import { until } from "../../../testing/until.ts";

const db = pgFixture("select 1");
const NO_POLLS = { pollMs: 3_600_000, maxPollMs: 3_600_000 };

/** Lets the time pass after which the connection is checked. */
const checkIsDue = () => vi.advanceTimersByTime(60_000); // the first check is skipped: opening it was one

afterEach(() => {
  vi.useRealTimers();
});

describe("a listening connection", () => {
  it("is replaced once it receives no notifications any more, and the stats report polling meanwhile", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const wadi = new Wadi(pg(db.pool()));
    const other = new Wadi(pg(db.pool({ connectionString: db.directUrl })));
    await other.migrate();
    const reported: string[] = [];
    const onError = (error: unknown) => reported.push((error as Error).message);
    const worker = new Worker(wadi, { ...NO_POLLS, leaseMs: 3000, onError }).task(
      "a",
      ({ payload }) => payload,
    );
    const running = worker.run();
    await until(() => worker.stats().wakeSource === "listening");
    db.proxy.silence();
    checkIsDue();
    await until(() => worker.stats().wakeSource === "polling");
    await until(() => worker.stats().wakeSource === "listening", 20_000);
    expect(reported).toContain("the listening connection did not receive its test notification any more");
    expect(await other.call("a", 1, { timeoutMs: 20_000 })).toBe(1);
    await worker.stop();
    await running;
    await wadi.close();
    await other.close();
  });

  it("is kept while it receives notifications, and while none can be sent to it", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const pool = db.pool({ max: 3 });
    const executor = pg(pool);
    const lost: unknown[] = [];
    const got: (string | null)[] = [];
    await executor.listen!(
      ["a"],
      (_, payload) => got.push(payload),
      (error) => lost.push(error),
    );
    const pid =
      "select pid from pg_stat_activity where query = 'listen \"a\"' and datname = current_database()";
    const before = (await db.admin.query(pid)).rows;
    const probes =
      "select count(*)::int as n from pg_stat_activity " +
      "where query like '%pg_notify%' and datname = current_database() and pid <> pg_backend_pid()";
    checkIsDue();
    await until(async () => (await db.admin.query(probes)).rows[0].n > 0);
    const taken = [await pool.connect(), await pool.connect()];
    checkIsDue();
    await until(
      async () =>
        (
          await db.admin.query("select 1 from pg_stat_activity where query = 'select 1' and pid = $1", [
            before[0].pid,
          ])
        ).rowCount === 1,
    );
    for (const client of taken) client.release();
    expect(lost).toEqual([]);
    await executor.run(sql("select pg_notify('a', 'still')"));
    await until(() => got.length === 1);
    await executor.close();
  });

  it("is released when its pool is being ended, which waits for it", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const pool = db.pool();
    await pg(pool).listen!(
      ["a"],
      () => {},
      () => {},
    );
    const ended = pool.end();
    checkIsDue();
    await ended;
  });

  it("does not keep a process alive that has nothing else to do", async () => {
    const script = `
      import { Pool } from "pg";
      import { pg } from "./src/drivers/pg.ts";
      import { Wadi } from "./src/index.ts";
      const wadi = new Wadi(pg(new Pool({ connectionString: ${JSON.stringify(db.directUrl)}, allowExitOnIdle: true })));
      const { id } = await wadi.submit("without-a-worker", 1);
      const wait = wadi.wait(id, { timeoutMs: 2000 }).catch((error) => error.code);
      while (wadi.wakeSource !== "listening") await new Promise((resolve) => setTimeout(resolve, 10));
      console.log(await wait);
    `;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let out = "";
    child.stdout.on("data", (chunk) => {
      out += chunk;
    });
    const [code] = await once(child, "exit");
    expect([out.trim(), code]).toEqual(["TASK_TIMEOUT", 0]);
  });
});
