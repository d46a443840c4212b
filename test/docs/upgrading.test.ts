// The claim of the release before, as it was compiled then, next to this release: what it takes, and what the triggers
// on the page about upgrades keep from it.

import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Wadi, Worker } from "../../src/index.ts";
import type { OpenTarget } from "../../testing/target.ts";
import { pickTargets } from "../../testing/targets.ts";

/** The statements of 0.1.0: small enough to check in, so that the test needs neither a registry nor a build. */
const release = JSON.parse(readFileSync("testing/releases/0.1.0.json", "utf8"));
const page = readFileSync("docs/upgrading.md", "utf8");
const [onSqlite, onPostgres] = [...page.matchAll(/```sql\n(.*?)```/gs)].map(([, sql]) => sql!);
/** On Postgres the function comes first, and its body has semicolons too. */
const TRIGGER = {
  sqlite: [onSqlite!],
  postgres: onPostgres!.split(/(?<=^\$\$;)\n/m),
};

describe.each(pickTargets(["better-sqlite3-memory", "libsql-file", "d1", "pg", "neon-http"]))(
  "0.1.0 on $name",
  (target) => {
    let open: OpenTarget;
    let wadi: Wadi;

    beforeEach(async () => {
      open = await target.open();
      wadi = new Wadi(open.executor, { clock: () => Date.now() - 60_000 });
      await wadi.migrate();
    });

    afterEach(() => open.close());

    const run = (sql: string) => open.executor.run({ sql: sql.trim().replace(/;$/, ""), params: [] });

    /** Claims as a worker of 0.1.0 does, and returns the payloads of what it got. */
    async function claimOfOldRelease(): Promise<unknown[]> {
      const { sql, params } = release[target.dialect];
      const values: Record<string, string | number | null> = {
        lanes_json: JSON.stringify([{ queue: "default", name: "a", quota: 9, rank: 0 }]),
        worker_id: `old:${Math.random()}`,
        lease_ms: 60_000,
        max_tasks: 9,
        holds: 0,
        max_task_bytes: null,
        weighs: 0,
        now_ms: null,
      };
      const rows = await open.executor.run({
        sql,
        params: params.map((name: string) => values[name] ?? null),
      });
      return rows.map(({ payload }) => (typeof payload === "string" ? JSON.parse(payload) : payload));
    }

    /** One task to run, one that expired a moment ago, and one of a paused queue. */
    async function submitAll(): Promise<void> {
      await wadi.submit("a", { is: "due" });
      await wadi.submit("a", { is: "expired" }, { expiresInMs: 1 });
    }

    test("claims what has expired or is paused without the trigger, and neither with it", async () => {
      await submitAll();
      expect((await claimOfOldRelease()).length).toBe(2);
      for (const sql of TRIGGER[target.dialect]) await run(sql);
      await submitAll();
      expect(await claimOfOldRelease()).toEqual([{ is: "due" }]);
      await wadi.pause({ queue: "default" });
      await wadi.submit("a", { is: "paused" });
      expect(await claimOfOldRelease()).toEqual([]);
      await wadi.resume({ queue: "default" });
      expect(await claimOfOldRelease()).toEqual([{ is: "paused" }]);
    });

    test("the trigger changes nothing for a worker of this release", async () => {
      for (const sql of TRIGGER[target.dialect]) await run(sql);
      await submitAll();
      const now = new Wadi(open.executor);
      expect(await new Worker(now).task("a", () => 1).drain()).toMatchObject({ succeeded: 1 });
      expect(await now.stats()).toMatchObject({ default: { succeeded: 1, canceled: 1 } });
    });
  },
);
