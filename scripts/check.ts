// Everything that must hold before a change lands: `npm test`. The first failing step ends it.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const scratch = mkdtempSync(join(tmpdir(), "wadi-check-"));
const report = join(scratch, "vitest.json");

const STEPS: readonly (readonly [what: string, command: string, ...args: string[]])[] = [
  ["format and lint", "biome", "ci", "."],
  ["types", "tsc", "--noEmit"],
  ["generated files are up to date", "node", "scripts/build-protocol.ts", "--check"],
  ["build", "node", "scripts/build.ts"],
  ["package", "publint", "--strict"],
  ["package types", "attw", "--pack", ".", "--profile", "esm-only", "--format", "ascii", "--no-emoji"],
  ["tests", "vitest", "run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`],
];

function run(): number {
  for (const [what, command, ...args] of STEPS) {
    console.log(`\n— ${what}`);
    const { status, error } = spawnSync(command, args, { cwd: ROOT, stdio: "inherit" });
    if (status !== 0) {
      console.error(`\n${what}: failed (${error?.message ?? `exit code ${status}`})`);
      return 1;
    }
  }
  return 0;
}

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly { readonly assertionResults: readonly Assertion[] }[];
}

interface Assertion {
  readonly status: string;
  readonly ancestorTitles: readonly string[];
  readonly title: string;
}

/** The closing lines of a run: what was skipped, which says why in its title, and what vitest counted. */
function count(): string | null {
  try {
    const { numPassedTests, numFailedTests, testResults } = JSON.parse(
      readFileSync(report, "utf8"),
    ) as Report;
    const skipped = testResults
      .flatMap(({ assertionResults }) => assertionResults)
      .filter(({ status }) => status !== "passed" && status !== "failed")
      .map(({ ancestorTitles, title }) => ancestorTitles[0] ?? title);
    const lines = [...new Set(skipped)].map(
      (what) => `skipped: ${what}, ${skipped.filter((each) => each === what).length} tests`,
    );
    return [...lines, `${numPassedTests} passed, ${numFailedTests} failed`].join("\n");
  } catch {
    return null; // an earlier step failed
  }
}

const status = run();
const summary = count();
rmSync(scratch, { recursive: true, force: true });
if (summary !== null) console.log(`\n${summary}`);
process.exitCode = status;
