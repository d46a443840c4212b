// The functions can be copied into an application.

import { globSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { expect, it } from "vitest";

const IMPORT = /(?<=\bfrom ")[^"]+/g;
const readme = readFileSync("functions/README.md", "utf8");

/** What the page says to replace when the functions are copied. */
const replacements = new Map(
  readme
    .split("\n")
    .filter((line) => /^\| `\.\.\//.test(line))
    .flatMap((line) => {
      const [, from, to] = line
        .split("|")
        .map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map((name) => name[1]!));
      return from!.map((specifier) => [specifier, to![0]!] as const);
    }),
);

it("the page on the functions names the replacement of each import that leaves their folder", () => {
  const leaving = globSync("functions/**/*.ts").flatMap((file) =>
    (readFileSync(file, "utf8").match(IMPORT) ?? []).filter(
      (target) => target.startsWith(".") && !posix.join(posix.dirname(file), target).startsWith("functions/"),
    ),
  );
  expect([...replacements.keys()].sort()).toEqual([...new Set(leaving)].sort());
});

it("each of them is an export of the package, or a file that goes along and needs no other", () => {
  const { exports } = JSON.parse(readFileSync("package.json", "utf8")) as { exports: object };
  const packages = Object.keys(exports).map((path) => posix.join("wadi", path));
  const others = [...replacements.values()].filter((target) => !packages.includes(target));
  expect(others).toEqual(["./report.ts"]);
  expect(readFileSync("examples/demo/report.ts", "utf8")).not.toMatch(IMPORT);
});
