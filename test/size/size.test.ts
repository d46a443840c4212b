// No bundle is larger than its ceiling or has files that it does not need.

import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { bundles, measureBundle, readCeilings } from "../../scripts/size/bundles.ts";

test.each(Object.keys(bundles))("%s is not above its ceiling", async (bundle) => {
  const { gzipBytes, ceiling } = await measureBundle(bundle);
  expect(gzipBytes).toBeLessThanOrEqual(ceiling);
});

test("the core has 13 KiB at most", () => {
  expect(readCeilings().core).toBeLessThanOrEqual(13 * 1024);
});

test("a driver brings only itself, the SQL of its dialect, argument errors and the walk over causes", async () => {
  const core = ["src/core/errors/wadi-error.ts", "src/core/errors/causes.ts"];
  for (const driver of ["better-sqlite3", "libsql", "pg", "neon", "d1", "durable-object", "pglite"]) {
    const { files } = await measureBundle(driver);
    const dialect = ["pg", "neon", "pglite"].includes(driver) ? "postgres" : "sqlite";
    const foreign = files.filter(
      ([file]) => !file.startsWith("src/drivers/") && ![`src/protocol/${dialect}.ts`, ...core].includes(file),
    );
    expect(foreign).toEqual([]);
  }
});

test("Drizzle databases of one dialect bring the drivers and the SQL of that dialect", async () => {
  const foreign = {
    "drizzle/sqlite": /protocol\/postgres|drivers\/(pg|neon|sqlstate)/,
    "drizzle/postgres": /sqlite|libsql|drivers\/(d1|durable)/,
  };
  for (const [bundle, pattern] of Object.entries(foreign)) {
    const { files } = await measureBundle(bundle);
    expect(files.map(([file]) => file).filter((file) => pattern.test(file))).toEqual([]);
  }
});

describe("npm run size", () => {
  test("--json ends with one line of JSON", () => {
    const { stdout } = spawnSync(process.execPath, ["scripts/size.ts", "--json"], { encoding: "utf8" });
    const sizes = JSON.parse(stdout.trim().split("\n").at(-1)!) as unknown[];
    expect(sizes).toHaveLength(Object.keys(bundles).length);
    expect(sizes[0]).toEqual({ bundle: "core", gzipBytes: expect.any(Number), ceiling: readCeilings().core });
  });
});
