// Limits that a submit stores.

import { describe, expect, test } from "vitest";
import { defineTask, type FleetLimits, Wadi } from "../../../src/index.ts";
import { ManualClock, memoryWadi } from "../../../testing/memory.ts";
import { pickTargets } from "../../../testing/targets.ts";

const LIMITS = { key: "tenant", concurrency: 2, rate: { count: 5, perMs: 1000 } };

async function read(wadi: Wadi, sql: string) {
  return wadi.executor.run({ sql, params: [] });
}

const limitsOf = (wadi: Wadi) =>
  read(wadi, "select key, concurrency, rate_count, rate_per_ms from wadi_limits order by key");

describe.each(pickTargets(["better-sqlite3-memory", "libsql-http", "d1", "pg", "neon-http"]))(
  "$name",
  (target) => {
    test("every way to submit stores the key and what it allows", async () => {
      const open = await target.open();
      const wadi = new Wadi(open.executor);
      try {
        await wadi.submit("one", null, { limits: LIMITS });
        await wadi.submit("keyed", null, { key: "k", limits: { key: "keyed", concurrency: 1 } });
        await Promise.all([
          wadi.submit("joined", 1, { limits: { key: "a", rate: { count: 1, perMs: 2 } } }),
          wadi.submit("joined", 2, { limits: { key: "b", concurrency: 3 } }),
          wadi.submit("joined", 3),
        ]);
        const perTenant = defineTask<{ tenant: string }>({
          name: "defined",
          limits: { key: ({ tenant }) => `tenant:${tenant}`, concurrency: 4 },
        });
        await wadi.submitMany(perTenant, [{ payload: { tenant: "x" } }, { payload: { tenant: "y" } }]);
        await wadi.submit(perTenant, { tenant: "z" }, { limits: { key: "own", concurrency: 1 } });
        const tasks = await read(
          wadi,
          "select name, concurrency_key from cairnq_tasks order by name, concurrency_key",
        );
        expect(tasks.map((row) => `${row.name} ${row.concurrency_key}`)).toEqual([
          ...["defined own", "defined tenant:x", "defined tenant:y", "joined ", "joined a", "joined b"],
          ...["keyed keyed", "one tenant"],
        ]);
        expect((await limitsOf(wadi)).map((row) => Object.values(row).join())).toEqual([
          ...["a,,1,2", "b,3,,", "keyed,1,,", "own,1,,", "tenant,2,5,1000", "tenant:x,4,,", "tenant:y,4,,"],
        ]);
      } finally {
        await open.close();
      }
    });
  },
);

test("the latest submit decides, and one that says the same writes nothing", async () => {
  const clock = new ManualClock();
  const wadi = memoryWadi({ clock: clock.read });
  const submit = (limits: FleetLimits) => wadi.submit("a", null, { limits });
  const updated = async () =>
    Number((await read(wadi, "select updated_at_ms from wadi_limits"))[0]!.updated_at_ms);
  await submit({ key: "k", concurrency: 2 });
  const first = await updated();
  clock.advance(60_000);
  await submit({ key: "k", concurrency: 2 });
  expect(await updated()).toBe(first);
  await submit({ key: "k", rate: { count: 3, perMs: 4 } });
  expect(await updated()).toBe(clock.nowMs);
  expect(await limitsOf(wadi)).toEqual([{ key: "k", concurrency: null, rate_count: 3, rate_per_ms: 4 }]);
  // Once in a while it does, so that a key in use is never purged under a submit.
  clock.advance(30 * 60_000);
  await submit({ key: "k", rate: { count: 3, perMs: 4 } });
  expect(await updated()).toBe(clock.nowMs);
  // In one batch the last one counts.
  await wadi.submitMany("a", [
    { payload: 1, limits: { key: "k", concurrency: 7 } },
    { payload: 2, limits: { key: "k", concurrency: 8 } },
  ]);
  expect(await limitsOf(wadi)).toMatchObject([{ concurrency: 8, rate_count: null }]);
});

test("a submit without limits is the one statement it was", async () => {
  const wadi = memoryWadi();
  await wadi.getStatus("none");
  const { run } = wadi.executor;
  const sent: string[] = [];
  wadi.executor.run = (statement) => {
    sent.push(statement.sql);
    return run(statement);
  };
  await wadi.submit("a", null);
  expect(sent).toHaveLength(1);
});

test.each<[unknown, string]>([
  [null, "limits must be an object, got null"],
  [{ concurrency: 1 }, "limits.key must be a non-empty string, got undefined"],
  [{ key: "", concurrency: 1 }, 'limits.key must be a non-empty string, got ""'],
  [{ key: "k" }, "limits needs concurrency or rate"],
  [{ key: "k", concurrency: 0 }, "limits.concurrency must be an integer from 1 to 1000000, got 0"],
  [{ key: "k", rate: 5 }, "limits.rate must be an object, got 5"],
  [
    { key: "k", rate: { count: 1 } },
    "limits.rate.perMs must be an integer from 1 to 2147483647, got undefined",
  ],
  [
    { key: "k", rate: { count: 1.5, perMs: 1 } },
    "limits.rate.count must be an integer from 1 to 1000000, got 1.5",
  ],
  [
    { key: "k", rate: { count: 1, perMs: 1, burst: 2 } },
    'limits.rate has no option "burst"; it takes count, perMs',
  ],
  [{ key: "k", max: 1 }, 'limits has no option "max"; it takes key, concurrency, rate'],
])("%j is refused before anything is sent", async (limits, message) => {
  const wadi = memoryWadi();
  expect(() => defineTask({ name: "a", limits: limits as never })).toThrow(message);
  if (limits !== null)
    await expect(wadi.submit("a", null, { limits: limits as never })).rejects.toThrow(message);
});

test("a key that cannot be made from the payload is refused, and the message names it", async () => {
  const wadi = memoryWadi();
  const task = defineTask<{ tenant?: { id: string } }>({
    name: "a",
    limits: { key: ({ tenant }) => tenant!.id, concurrency: 1 },
  });
  await expect(wadi.submit(task, {})).rejects.toThrow('the limits.key of "a" threw on this payload');
  await expect(wadi.submit(task, { tenant: { id: "" } })).rejects.toThrow(
    "limits.key must be a non-empty string",
  );
});
