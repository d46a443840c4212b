// A short soak with faults.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { KINDS } from "../../scripts/soak/faults/kinds.ts";
import { runSoak } from "./run-soak.ts";

test("under faults of every kind nothing is lost, settled twice or failed, and workers recover within a lease", {
  timeout: 240_000,
}, async () => {
  const { code, output, result } = await runSoak("--faults", "--minutes", "0.3");
  const report = output.split("\n").filter((line) => /VIOLATION|failed/.test(line));
  expect(report, output).not.toContainEqual(expect.stringContaining("VIOLATION"));
  expect(result).toEqual({
    submitted: expect.any(Number),
    succeeded: expect.any(Number),
    failed: expect.any(Number),
    lost: 0,
    settledTwice: 0,
    goodFailed: 0,
    faults: Object.fromEntries(KINDS.map((kind) => [kind, expect.any(Number)])),
    slowestRecoveryMs: expect.any(Number),
  });
  expect(code).toBe(0);
  expect(result.succeeded + result.failed).toBe(result.submitted);
  expect(result.submitted).toBeGreaterThan(500);
  for (const kind of KINDS) expect([kind, result.faults[kind]]).not.toEqual([kind, 0]);
});

test("--faults does not take single engines", async () => {
  const args = ["scripts/soak.ts", "--faults", "--engine", "libsql"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.on("data", (text) => {
    stderr += text;
  });
  expect(await once(child, "close")).toEqual([2, null]);
  expect(stderr).toContain("soak: --faults runs on all of its databases: leave out --engine");
});
