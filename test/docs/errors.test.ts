// The pages list every error class and code.

import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as wadi from "../../src/index.ts";

const page = readFileSync("docs/errors.md", "utf8");
const errorSources = () =>
  ["wadi-error", "database-errors", "submit-errors", "task-errors", "worker-errors"]
    .map((name) => readFileSync(`src/core/errors/${name}.ts`, "utf8"))
    .join("\n");
const read = (patterns: string[]) =>
  globSync(patterns)
    .map((file) => readFileSync(file, "utf8").replace(/\/\*\*.*?\*\//gs, "")) // examples throw other codes
    .join("\n");
const core = read(["src/core/**/*.ts", "src/producer/**/*.ts", "src/worker/**/*.ts"]);

/** The words in backticks of each row of the table under a heading, by column. */
function table(heading: string, text = page): string[][] {
  const section = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? "";
  const rows = section.split("\n").filter((line) => line.startsWith("| `"));
  return rows.map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll("`", "")),
  );
}

/** First groups of all matches, sorted and each once. */
function found(text: string, pattern: RegExp): string[] {
  return [...new Set([...text.matchAll(pattern)].map((match) => match[1]!))].sort();
}

/** Every code that ends up in an envelope, as the sources spell it. */
function envelopeCodes(): string[] {
  const statements = read(["protocol/statements/*/*.sql", "protocol/statements/*/fragments/*.sql"]);
  const either = found(core, /\bwhat: ("payload"[^,]+),/g)[0]!; // "payload" | "result"
  return [
    ...found(core, /\benvelope\(\s*[^,()]+(?:\([^)]*\))?[^,]*,\s*"(\w+)"/g),
    ...found(core, /\bcode: "([a-z_]+)"/g),
    ...found(core, /options\.code \?\? "([a-z_]+)"/g),
    ...(core.includes("code: `invalid_$" + "{what}`")
      ? found(either, /"(\w+)"/g).map((what) => `invalid_${what}`)
      : []),
    ...found(statements, /'code', '(\w+)'/g),
  ];
}

test("every error class and code is on the page, and no other", () => {
  const classes = Object.entries(wadi).flatMap(([name, value]) =>
    typeof value === "function" && value.prototype instanceof wadi.WadiError ? [name] : [],
  );
  expect(
    table("What calls throw")
      .map(([, name]) => name)
      .sort(),
  ).toEqual(classes.sort());
  const source = errorSources();
  const union = found(source.slice(0, source.indexOf("export interface")), /\| "([A-Z_]+)"/g);
  expect(
    table("What calls throw")
      .map(([code]) => code)
      .sort(),
  ).toEqual(union);
});

test("every class has the code the page gives it", () => {
  const source = errorSources();
  for (const [code, name] of table("What calls throw")) {
    const body = source.split(`export class ${name} `)[1]?.split("\nexport ")[0];
    expect([name, /super\(\s*"([A-Z_]+)"/.exec(body ?? "")?.[1]]).toEqual([name, code]);
  }
});

test("every envelope code is on the page and in the protocol, and no other", () => {
  const written = [...new Set(envelopeCodes())].sort();
  expect(written.length).toBeGreaterThan(6);
  const others = ["no_handler"];
  expect(
    table("What a task fails with")
      .map(([code]) => code)
      .sort(),
  ).toEqual([...written, ...others].sort());
  const rows = table("Errors", readFileSync("protocol/PROTOCOL.md", "utf8")).flatMap(([codes, ...cells]) =>
    codes!.split(", ").map((code) => [code, ...cells]),
  );
  const ours = rows.filter(([, writer]) => writer!.includes("Wadi"));
  const codes = (some: typeof rows) => some.flatMap(([cell]) => cell!.split(", ")).sort();
  expect(codes(ours)).toEqual(written);
  expect(codes(rows)).toEqual([...written, ...others].sort());
});

test("every code of the HTTP handler is on the page with its status, and no other", () => {
  const source = read(["src/http/*.ts", "functions/**/*.ts"]);
  const thrown = [...source.matchAll(/new HttpError\(\s*(\d+),\s*"([A-Z_]+)"/g)].map(
    ([, status, code]) => `${code} ${status}`,
  );
  const listed = table("HTTP responses").map(([code, status]) => `${code} ${status}`);
  expect(listed.sort()).toEqual([...new Set(thrown)].sort());
});
