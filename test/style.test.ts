// Holds how files are written: a head that says what a file is for, and lines that fit on a screen.

import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const COLUMNS = 120;
const exclude = ["**/node_modules/**", "dist/**", ".tmp/**"];
const CODE = "{src,test,testing,scripts,bench,functions,examples}/**/*.ts";
const GENERATED = /\/generated\/|^src\/protocol\//;

const written = globSync([CODE, "**/*.md", "protocol/**/*.sql"], { exclude })
  .filter((file) => !GENERATED.test(file))
  .sort();
const read = (file: string) => readFileSync(file, "utf8");

/** True if a comment comes first, or stands right before the first export. */
function hasHead(code: string): boolean {
  const beforeExport = code.slice(0, Math.max(0, code.search(/^export /m)));
  return /^(?:\/\/ |\/\*)/.test(code) || /(?:\*\/|\n\/\/ .*)\n$/.test(beforeExport);
}

const longLines = (text: string) =>
  text.split("\n").flatMap((line, at) => ([...line].length > COLUMNS ? [at + 1] : []));

it("each file of code begins by saying what it is for, at its top or at its first export", () => {
  const code = written.filter((file) => file.endsWith(".ts"));
  expect(code.length).toBeGreaterThan(400);
  expect(code.filter((file) => !hasHead(read(file)))).toEqual([]);
});

it(`no line of code, SQL or documentation has more than ${COLUMNS} columns`, () => {
  for (const kind of [".ts", ".sql", ".md"])
    expect(written.filter((file) => file.endsWith(kind)).length).toBeGreaterThan(20);
  expect(written.flatMap((file) => longLines(read(file)).map((line) => `${file}:${line}`))).toEqual([]);
});

it("a missing head and a long line are found", () => {
  const imports = 'import { a } from "a";\n\n';
  const headed = ["// Adds.\n", `${imports}const one = 1;\n/** Adds. */\nexport const x = 1;`];
  const headless = [
    `${imports}/** One. */\nconst one = 1;\n\nexport const x = 1;`,
    `${imports}// Adds.\nx();`,
  ];
  expect([...headed, ...headless].map(hasHead)).toEqual([true, true, false, false]);
  expect(longLines(`${"─".repeat(COLUMNS)}\n${"x".repeat(COLUMNS + 1)}`)).toEqual([2]);
});
