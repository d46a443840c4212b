// The command lines of the tools.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "../..");

type Bad = [args: string, message: string];

const BAD: Bad[] = [
  ["--bad", "Unknown option '--bad'"],
  ["stray", "Unexpected argument 'stray'"],
];

/** Every tool, the name it has in its usage, and options with a value it does not take. */
const TOOLS: [file: string, name: string, bad: Bad[]][] = [
  ["scripts/demo.ts", "demo", [["--json=1", "'--json' does not take an argument"]]],
  ["scripts/dev-cloudflare.ts", "dev:cloudflare", []],
  ["scripts/build-protocol.ts", "build:protocol", [["--check=1", "'--check' does not take an argument"]]],
  [
    "scripts/conformance.ts",
    "conformance",
    [
      ["--target d1,mysql", 'no target "mysql"; there are better-sqlite3-file'],
      ["--scenarios /nonexistent", "there is no folder /nonexistent"],
    ],
  ],
  [
    "scripts/cost.ts",
    "cost",
    [
      // Trimmed names and none between two commas, or another one would be refused first.
      ["--target pg,,d1,\u00a0pg,mysql", 'no target "mysql"; there are better-sqlite3-file'],
      ["--target ,", "Option '--target' names nothing"],
      ["--target", "'--target <value>' argument missing"],
      ["--target --json", "'--target' argument is ambiguous"],
    ],
  ],
  ["scripts/size.ts", "size", []],
  [
    "scripts/simulate.ts",
    "simulate",
    [
      ["idle --seed 0", '--seed takes a whole number above 0, got "0"'],
      ["--json", "name one of schedules, invocations, idle"],
      ["idle more", "Unexpected argument 'more'"],
    ],
  ],
  [
    "bench/main.ts",
    "bench",
    [["--engine mysql", 'no engine "mysql"; there are better-sqlite3, better-sqlite3+normal, postgres']],
  ],
];

const PROGRAMS = ["produce", "drain", "wait"].map((name) => `examples/demo/${name}.ts`);

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "wadi-options-"));
});

afterAll(() => rmSync(folder, { recursive: true }));

/** In an empty folder, which each call leaves empty: reading options makes no files. */
function run(file: string, ...args: string[]) {
  const env = { ...process.env, TMPDIR: folder };
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(ROOT, file), ...args], {
    ...{ cwd: folder, encoding: "utf8", timeout: 20_000, env },
  });
  expect(readdirSync(folder)).toEqual([]);
  return { status, stdout, stderr };
}

describe.each(TOOLS)("%s", (file, name, bad) => {
  it.each(["--help", "-h"])("prints its usage for %s", (option) => {
    const { status, stdout, stderr } = run(file, option);
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(
      /^usage: npm run (\S+) -- \[--.+\](?: \w+(?:\|\w+)+)?\n(?: {2}--\S.* {2}\S.*\n)+$/,
    );
    expect(stdout).toContain(`usage: npm run ${name} -- `);
  });

  it.each([...BAD, ...bad])("refuses %s in one line with the usage below", (args, message) => {
    const { status, stdout, stderr } = run(file, ...args.split(" "));
    expect([status, stdout]).toEqual([2, ""]);
    const [first, second] = stderr.split("\n");
    expect(first).toContain(message);
    expect(first).toContain(`${name}: `);
    expect(second).toContain(`usage: npm run ${name} -- `);
    expect(stderr).not.toContain("    at ");
  });
});

describe.each(PROGRAMS)("%s", (file) => {
  it("takes no option for the name of a database", () => {
    const usage = `usage: node ${file} DATABASE`;
    const help = run(file, "--help");
    expect([help.status, help.stderr]).toEqual([0, ""]);
    expect(help.stdout).toContain(usage);
    const refused = run(file, "--bad", "name");
    expect([refused.status, refused.stdout]).toEqual([2, ""]);
    expect(refused.stderr).toContain(`there is no option --bad\n${usage}`);
  });
});
