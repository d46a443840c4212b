// Drains that the alarm of a Durable Object starts.

import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { AlarmReport } from "../../testing/alarm-object.ts";
import { startDurableObjects } from "../../testing/durable-object.ts";
import { until } from "../../testing/until.ts";

test("an alarm that follows nextDueAtMs finishes limited tasks and children that settle by succeedWith", async () => {
  const entryPoint = join(import.meta.dirname, "../../testing/alarm-object.ts");
  const runtime = await startDurableObjects(entryPoint, "AlarmDatabase");
  onTestFinished(() => runtime.dispose());
  const namespace = (await runtime.getDurableObjectNamespace("AlarmDatabase")) as unknown as {
    idFromName(name: string): unknown;
    get(id: unknown): { fetch(url: string, init?: RequestInit): Promise<Response> };
  };
  const object = namespace.get(namespace.idFromName("one"));
  await object.fetch("https://object.test/", { method: "POST" });
  let report: AlarmReport | undefined;
  await until(async () => {
    report = (await (await object.fetch("https://object.test/")).json()) as AlarmReport;
    return report.succeeded === 22;
  });
  expect(report).toMatchObject({ queued: 0, succeeded: 22 });
  expect(report!.alarms).toBe(1);
});
