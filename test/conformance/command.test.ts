// The command `npm run conformance`: its report and its exit code.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const COMMAND = join(import.meta.dirname, "../../scripts/conformance.ts");
const MEMORY = ["--target", "better-sqlite3-memory"];

function run(...args: string[]) {
  const { status, stdout } = spawnSync(process.execPath, [COMMAND, ...args], { encoding: "utf8" });
  return { status, lines: stdout.trimEnd().split("\n") };
}

describe("npm run conformance", () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "wadi-conformance-"));
    const scenario = (name: string, status: string) => ({
      name,
      description: "",
      steps: [{ op: "submit", args: { name: "job" }, expect: { equals: { status } } }],
    });
    writeFileSync(join(folder, "good.json"), JSON.stringify(scenario("good", "queued")));
    writeFileSync(join(folder, "wrong.json"), JSON.stringify(scenario("wrong", "running")));
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  it("passes Wadi's own scenarios and says how many", () => {
    const { status, lines } = run(...MEMORY);
    expect(lines.at(-1)).toMatch(/^\d\d+ passed, 0 failed$/);
    expect(status).toBe(0);
  });

  it("names what failed and ends with 1", () => {
    const { status, lines } = run(...MEMORY, "--scenarios", folder, "--json");
    const error = 'step 1 (submit): status: expected "running", got "queued"';
    expect(lines).toContain(`  FAIL better-sqlite3-memory wrong: ${error}`);
    expect(lines.at(-2)).toBe("1 passed, 1 failed");
    expect(JSON.parse(lines.at(-1)!)).toEqual({
      passed: 1,
      failed: 1,
      results: [
        { target: "better-sqlite3-memory", scenario: "good", ok: true },
        { target: "better-sqlite3-memory", scenario: "wrong", ok: false, error },
      ],
    });
    expect(status).toBe(1);
  });
});
