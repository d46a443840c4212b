// The page on the functions names each import that a copy must replace.

import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { entryPoints } from "../../scripts/build/declarations.ts";

test("functions/README.md says by what an application replaces each import of Wadi's sources", () => {
  const imports = globSync("functions/**/*.ts").flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/from "((?:\.\.\/)+src\/[^"]+)"/g)].map(([, from]) => from!),
  );
  const rows = [
    ...readFileSync("functions/README.md", "utf8").matchAll(/^\| (`\.\..*`) \| `(wadi\S*)` \|$/gm),
  ];
  const replaced = rows.flatMap(([, cell, name]) =>
    cell!.split(", ").map((from) => [from.replaceAll("`", ""), name]),
  );
  const entries = new Map(entryPoints().map(({ name, path }) => [`src/${path}.ts`, name]));
  const needed = [...new Set(imports)].map((from) => [from, entries.get(from.replaceAll("../", ""))]);
  expect(replaced.sort()).toEqual(needed.sort());
});
