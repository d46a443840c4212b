// No operation costs more round trips, statements or rows than its ceiling.

import { execFile } from "node:child_process";
import { describe, expect, test } from "vitest";
import { type Bench, THREE_NAMES } from "../../scripts/cost/bench.ts";
import { dearer, readCeilings } from "../../scripts/cost/ceilings.ts";
import { readDocument, renderDocument } from "../../scripts/cost/document.ts";
import { type Cost, measure, measureTarget } from "../../scripts/cost/measure.ts";
import { operations } from "../../scripts/cost/operations.ts";
import { Wadi } from "../../src/producer/wadi.ts";
import { storeOf } from "../../testing/store.ts";
import { d1 } from "../../testing/targets/d1.ts";
import { targets } from "../../testing/targets.ts";

const MEASURING_MS = 120_000;

describe.each(targets)("on $name", (target) => {
  let costs: Cost[];

  test("no operation costs more than its ceiling", { timeout: MEASURING_MS }, async () => {
    costs = await measureTarget(target);
    expect(dearer(costs, readCeilings())).toEqual([]);
  });

  test("every operation is one round trip, but an idle drain with a hint none", () => {
    const idle = costs.filter(({ roundTrips }) => roundTrips === 0);
    expect(idle.map(({ operation }) => operation)).toEqual(["drain-empty-hint"]);
    expect(costs.filter(({ roundTrips }) => roundTrips > 1)).toEqual([]);
    expect(costs).toHaveLength(Object.keys(operations).length);
  });

  test("the first submit of a process is one round trip if the tables exist", async () => {
    const opened = await target.open();
    try {
      await new Wadi(opened.executor).migrate();
      const before = opened.meter().roundTrips;
      await new Wadi(opened.executor).submit("index", {});
      expect(opened.meter().roundTrips - before).toBe(1);
    } finally {
      await opened.close();
    }
  });
});

describe("on D1", () => {
  const rows = (operation: string) => readCeilings().d1![operation]!;

  test("a task without a key writes at most 6 rows from submit to success", () => {
    const written = ["submit", "claim", "settle"].map((operation) => rows(operation).rowsWritten!);
    expect(written.reduce((sum, each) => sum + each)).toBeLessThanOrEqual(6);
  });

  test("a wake writes one row when a submit kicks, and else none; it adds few rows to read", () => {
    const more = (operation: string, than: string) => ({
      read: rows(operation).rowsRead! - rows(than).rowsRead!,
      written: rows(operation).rowsWritten! - rows(than).rowsWritten!,
    });
    expect(more("submit-kicking", "submit")).toEqual({ read: expect.any(Number), written: 1 });
    expect(more("submit-kick-pending", "submit").written).toBe(0);
    expect(rows("drain-empty-kicking").rowsWritten).toBe(0);
    for (const operation of ["submit-kicking", "submit-kick-pending"])
      expect(more(operation, "submit").read).toBeLessThanOrEqual(6);
    expect(more("drain-empty-kicking", "drain-empty").read).toBeLessThanOrEqual(8);
  });

  test.each([
    { names: THREE_NAMES, most: 64 },
    { names: THREE_NAMES.slice(0, 1), most: 53 },
  ])("an empty drain of $names reads at most $most rows and writes none", async ({ names, most }) => {
    for (const [notDue, finished] of [
      [0, 0],
      [6_000, 0],
      [0, 1_000],
      [6_000, 1_000],
    ] as const) {
      const cost = await measure(d1, async (bench) => {
        await bench.fill(THREE_NAMES, notDue, finished);
        return bench.drainOf(names);
      });
      expect(cost.rowsWritten).toBe(0);
      expect(cost.rowsRead).toBeLessThanOrEqual(most);
    }
    for (const operation of ["drain-empty", "drain-empty-100k-not-due"]) {
      expect(rows(operation)).toMatchObject({ rowsWritten: 0 });
      expect(rows(operation).rowsRead).toBeLessThanOrEqual(64);
    }
  });
  describe("with 100,000 tasks that may not be claimed at the head of a lane", {
    timeout: MEASURING_MS,
  }, () => {
    const lanes = [{ queue: "default", name: "index", quota: 10 }];
    const request = { pools: [{ lanes, limit: 10 }], leaseMs: 60_000, limited: false };
    const claim = (prepare: (bench: Bench) => Promise<unknown>, expired = false) =>
      measure(d1, async (bench) => {
        await prepare(bench);
        return () => storeOf(bench.wadi).claim({ ...request, workerId: "cost:1", expired });
      });
    const expire = async ({ past }: Bench) => {
      const entry = { payload: null, expiresInMs: 60_000 };
      for (let n = 0; n < 20; n++) await past.submitMany("index", Array<typeof entry>(5_000).fill(entry));
    };

    test("a claim of a paused lane costs the same as that of an empty lane", async () => {
      const empty = await claim(async () => {});
      const paused = await claim(async (bench) => {
        await bench.queue(100_000);
        await bench.wadi.pause({ queue: "default" });
      });
      expect(empty).toMatchObject({ rowsRead: 15, rowsWritten: 0 });
      expect(paused).toEqual(empty);
    });

    test("a claim of expired ones reads the tasks it asks for, and the next one ends 1,000 of them", async () => {
      const { rowsRead, rowsWritten } = await claim(expire);
      expect(rowsWritten).toBe(0);
      expect(rowsRead).toBeLessThanOrEqual(70);
      const sweep = await claim(expire, true);
      expect(sweep.rowsWritten).toBe(2_000);
      expect(sweep.rowsRead).toBeLessThanOrEqual(6_100);
    });
  });
});

test("docs/cost.md shows the ceilings", () => {
  expect(readDocument()).toBe(renderDocument(readCeilings()));
});

test("a cost above its ceiling, or without one, is named", () => {
  const cost = { roundTrips: 2, statements: 1, rowsRead: 9, rowsWritten: null };
  const ceilings = { d1: { get: { roundTrips: 1, statements: 1, rowsRead: 9, rowsWritten: null } } };
  expect(
    dearer(
      [
        { target: "d1", operation: "get", ...cost },
        { target: "d1", operation: "put", ...cost },
      ],
      ceilings,
    ),
  ).toEqual(["get on d1: roundTrips is 2, the ceiling is 1", "put on d1 has no ceiling"]);
});

describe("npm run cost", () => {
  test("--json ends with one line of JSON", async () => {
    const { code, stdout } = await cost("--json", "--target", "better-sqlite3-memory");
    expect(code).toBe(0);
    const costs = JSON.parse(stdout.trim().split("\n").at(-1)!) as Cost[];
    expect(costs.map(({ operation }) => operation)).toEqual(Object.keys(operations));
    expect(costs[0]).toEqual({
      ...{ target: "better-sqlite3-memory", operation: "submit" },
      ...{ roundTrips: 1, statements: 1, rowsRead: null, rowsWritten: null },
    });
  });
});

function cost(...options: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, ["scripts/cost.ts", ...options], (_, stdout, stderr) =>
      resolve({ code: child.exitCode!, stdout, stderr }),
    );
  });
}
