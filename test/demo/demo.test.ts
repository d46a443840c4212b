// The demo runs to its end, through a killed worker.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Summary } from "../../scripts/demo/summary.ts";
import { until } from "../../testing/until.ts";

const root = join(import.meta.dirname, "../..");
const SKIPPED = new Set(["node_modules", "dist", ".git", ".tmp", ".wrangler"]);

let temporary: string;

beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), "wadi-demo-test-"));
});

afterEach(() => {
  rmSync(temporary, { recursive: true, force: true });
});

interface Run {
  readonly child: ChildProcess;
  readonly output: { text: string; errors: string };
  readonly exitCode: Promise<number | null>;
}

function demo(...args: string[]): Run {
  const env = { ...process.env, TMPDIR: temporary, TEMP: temporary, TMP: temporary };
  const child = spawn(process.execPath, [join(root, "scripts/demo.ts"), ...args], { cwd: root, env });
  const output = { text: "", errors: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output.text += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output.errors += text;
  });
  return { child, output, exitCode: once(child, "close").then(([code]) => code as number | null) };
}

describe("npm run demo", () => {
  it("runs every task through a killed worker and sums up what happened", { timeout: 60_000 }, async () => {
    const files = globSync(["**/*.{md,sql,ts}", "**/.*.{md,sql,ts}", "**/.*/**/*.{md,sql,ts}"], {
      cwd: root,
      exclude: (path) => SKIPPED.has(basename(path)),
    });
    const { output, exitCode } = demo("--json");
    expect(await exitCode, output.errors).toBe(0);

    const lines = output.text.trimEnd().split("\n");
    const summary = JSON.parse(lines.at(-1)!) as Summary;
    expect(Object.keys(summary)).toEqual([
      "submitted",
      "succeeded",
      "failed",
      "invocations",
      "killed",
      "redelivered",
      "waitedByKey",
      "seconds",
    ]);
    expect(summary).toMatchObject({
      submitted: files.length,
      succeeded: files.length,
      failed: 0,
      killed: 1,
    });
    expect(summary.redelivered).toBeGreaterThanOrEqual(1);
    expect(summary.invocations).toBeGreaterThanOrEqual(3);
    expect(summary.waitedByKey).toBeGreaterThanOrEqual(1);
    expect(summary.seconds).toBeLessThan(20);
    expect(lines.slice(0, -1).join("\n")).toMatch(/was killed with SIGKILL/);
    expect(output.text, "escape codes without a terminal").not.toContain("\x1b");
    expect(output.errors).toBe("");
    expect(readdirSync(temporary)).toEqual([]);
  });

  it("leaves nothing behind when it is stopped", { timeout: 60_000 }, async () => {
    const { child, output, exitCode } = demo();
    await until(() => output.text.includes("submitted"), 30_000);
    child.kill("SIGTERM");
    expect(await exitCode).toBe(1);
    expect(output.errors).toBe("demo: terminated\n");
    expect(readdirSync(temporary)).toEqual([]);
  });
});
