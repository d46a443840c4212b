// The command `npm run dev:cloudflare`.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

it("npm run dev:cloudflare runs a task for each Markdown file in wrangler's local runtime, and ends", async () => {
  const args = ["scripts/dev-cloudflare.ts", "--json"];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { timeout: 55_000 });
  const summary = JSON.parse(stdout.trimEnd().split("\n").at(-1)!);
  expect(summary.submitted).toBeGreaterThan(0);
  expect(summary).toEqual({
    submitted: summary.submitted,
    succeeded: summary.submitted,
    failed: 0,
    crons: expect.any(Number),
    waitedByKey: summary.submitted,
    seconds: expect.any(Number),
  });
  expect(stdout).not.toContain("worker warn"); // no kick has failed
  expect(stderr).toBe("");
}, 60_000);
