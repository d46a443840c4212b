// Schedules fire within drains: once each, whatever the ticks do.

import { expect, test } from "vitest";
import { Worker } from "../../../src/index.ts";
import { ManualClock, memoryWadi } from "../../../testing/memory.ts";

const START = Date.parse("2026-11-30T08:30:00Z");
const MINUTE = 60_000;

test("a slot that is due fires once, and an idle drain sends one round trip", async () => {
  const clock = new ManualClock();
  clock.nowMs = START;
  const wadi = memoryWadi({ clock: clock.read });
  const ran: string[] = [];
  const worker = new Worker(wadi, {
    schedules: [{ name: "report", task: "report", cron: "0 9 * * *", payload: { to: "all" } }],
  }).task("report", ({ payload }) => void ran.push(JSON.stringify(payload)));
  expect(await worker.drain()).toMatchObject({ roundTrips: 2, claimed: 0, nextDueAtMs: START + 30 * MINUTE });
  expect(await worker.drain()).toMatchObject({ roundTrips: 1, claimed: 0 });
  clock.advance(31 * MINUTE);
  expect(await worker.drain()).toMatchObject({ roundTrips: 3, claimed: 1, succeeded: 1 });
  expect(await worker.drain()).toMatchObject({ roundTrips: 1, claimed: 0 });
  expect(ran).toEqual(['{"to":"all"}']);
  expect(await wadi.getByKey("default/report@2026-11-30T09:00:00.000Z")).toMatchObject({
    status: "succeeded",
    runAtMs: START + 30 * MINUTE,
  });
});
