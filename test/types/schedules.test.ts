// Types of schedules.

import { test } from "vitest";
import type { Wadi } from "../../src/index.ts";
import { defineSchedule, defineTask } from "../../src/index.ts";

// Checked by the compiler; nothing here runs.
declare const wadi: Wadi;

test("a schedule has a payload of its task, which is omitted only where the task takes an empty one", () => {
  const _ = () => {
    const report = defineTask<{ day: string }>({ name: "report" });
    const tidy = defineTask<{ days?: number }>({ name: "tidy" });
    const when = { name: "daily", cron: "@daily" } as const;
    defineSchedule({ ...when, task: report, payload: { day: "today" } });
    defineSchedule({ ...when, task: report, payload: async ({ slot }) => ({ day: slot.toISOString() }) });
    defineSchedule({ ...when, task: tidy });
    defineSchedule({ ...when, task: "any" });
    wadi.schedules.set({ ...when, task: report, payload: { day: "today" } });
    // @ts-expect-error: no payload
    defineSchedule({ ...when, task: report });
    // @ts-expect-error: no payload
    wadi.schedules.set({ ...when, task: report });
    // @ts-expect-error: a payload of another task
    defineSchedule({ ...when, task: report, payload: { days: 5 } });
    // @ts-expect-error: the function returns a payload of another task
    defineSchedule({ ...when, task: report, payload: ({ slot }) => ({ day: slot }) });
  };
});
