// Each flow control met with each other and with what else a task can have: docs/flow-control.md says what happens, and
// each cell that is not "independent" has a test.

import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Wadi } from "../../src/index.ts";
import { CELLS, CONTROLS, OTHERS } from "../../testing/flow-cells.ts";
import { ManualClock } from "../../testing/memory.ts";
import type { OpenTarget } from "../../testing/target.ts";
import { pickTargets } from "../../testing/targets.ts";
import { BULK } from "./bulk.ts";
import { EXPIRY_AND_PAUSE } from "./expiry-and-pause.ts";
import { SNOOZE_AND_ON_FAILED } from "./snooze-and-on-failed.ts";

const TESTS = { ...EXPIRY_AND_PAUSE, ...BULK, ...SNOOZE_AND_ON_FAILED };

const titleOf = ([control, meets]: readonly string[]) => `${control} × ${meets}`;

test("every pair has one cell", () => {
  const pairs = CONTROLS.flatMap((control, i) =>
    [...CONTROLS.slice(i + 1), ...OTHERS].map((meets) => titleOf([control, meets])),
  );
  expect(CELLS.map(titleOf)).toEqual(pairs);
});

test("every cell that is not independent has a test, and no other has one", () => {
  const tested = CELLS.filter(([, , what]) => what !== "independent");
  expect(Object.keys(TESTS)).toEqual(tested.map(titleOf));
});

test("the page has these cells", () => {
  const page = readFileSync("docs/flow-control.md", "utf8");
  const rows = [...page.matchAll(/^\| (\S+) \| ([^|]+) \| ([^|]+) \|$/gm)].map(([, ...cells]) => cells);
  expect(rows.filter(([control]) => (CONTROLS as readonly string[]).includes(control!))).toEqual(CELLS);
});

const TARGETS = pickTargets(["better-sqlite3-memory", "pg"]);
describe.each(TARGETS.map((target) => [target.name, target] as const))("on %s", (_, target) => {
  let opened: OpenTarget;
  let wadi: Wadi;
  const clock = new ManualClock();
  beforeAll(async () => {
    opened = await target.open();
    wadi = new Wadi(opened.executor, { clock: clock.read });
    await wadi.migrate();
  });
  afterAll(() => opened.close());

  test.each(Object.entries(TESTS))("%s", async (title, run) => {
    const queue = title.replaceAll(/[^a-zA-Z]+/g, " ");
    const send = (sql: string) => opened.executor.run({ sql, params: [] });
    await run({ wadi, clock, queue, limitKey: queue, run: send });
  });
});
