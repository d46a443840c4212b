// A short soak with kills, restarts and full disks.

import { expect, test } from "vitest";
import { runSoak } from "./run-soak.ts";

test("workers that serve lose nothing while peers are killed, Postgres restarts and the disk fills up", {
  timeout: 180_000,
}, async () => {
  const { code, result } = await runSoak("--minutes", "0.35", "--rate", "30");
  expect(result).toMatchObject({ violations: [], lost: 0, settledTwice: 0, isFlat: true });
  expect(code).toBe(0);
  expect(result.succeeded).toBe(result.submitted);
  expect(result.submitted).toBeGreaterThan(200);
  expect(result.kills).toBeGreaterThan(2);
  expect([result.restarts, result.diskFull]).toEqual([2, 4]);
});
