// The built package as an application imports it.

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const subpaths = Object.keys(manifest.exports).filter((path) => !path.endsWith(".json"));

/** Entry points that import a package, which is an optional peer. */
const NEEDS: Readonly<Record<string, string>> = {
  "./opentelemetry": "@opentelemetry/api",
  "./drizzle/sqlite": "drizzle-orm",
  "./drizzle/postgres": "drizzle-orm",
};

/** The entry point that carries all seven drivers, and so most of the files that two of them share. */
const ALL_DRIVERS = "./drizzle";

/** The contract of drivers is types alone. */
const TYPES_ONLY = ["./driver"];

let project: string;

/** A project in which only the packed package is installed. */
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), "wadi-package-"));
  execFileSync(process.execPath, ["scripts/build.ts"]);
  const packed = execFileSync("npm", ["pack", "--json", "--pack-destination", project], { encoding: "utf8" });
  const target = join(project, "node_modules/wadi");
  mkdirSync(target, { recursive: true });
  const [{ filename }] = JSON.parse(packed.slice(packed.indexOf("[")));
  execFileSync("tar", ["-xzf", join(project, filename), "-C", target, "--strip-components=1"]);
  writeFileSync(join(project, "package.json"), '{ "type": "module" }');
});

afterAll(() => rmSync(project, { recursive: true, force: true }));

test.each(subpaths)("%s loads where no driver is installed", (path) => {
  const needed = NEEDS[path];
  if (needed !== undefined) {
    cpSync(`node_modules/${needed}`, join(project, "node_modules", needed), { recursive: true });
  }
  const name = path.replace(".", "wadi");
  const script = `import * as all from ${JSON.stringify(name)}; console.log(Object.keys(all).length > 0)`;
  writeFileSync(join(project, "load.js"), script);
  const output = execFileSync(process.execPath, ["load.js"], { cwd: project, encoding: "utf8" });
  expect(output).toBe(TYPES_ONLY.includes(path) ? "false\n" : "true\n");
});

test("an application loads few files, and no class is in two of them", () => {
  const dist = join(project, "node_modules/wadi/dist");
  const files = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".js"),
  );
  expect(files.length).toBeLessThan(3 * subpaths.length);
  const classes = files.flatMap((file) =>
    [
      ...readFileSync(join(dist, file), "utf8").matchAll(
        /^(?:export )?(?:var|let|const) (\w+) = class\b|^class (\w+)/gm,
      ),
    ].map(([, name]) => name),
  );
  expect(classes).toContain("Wadi");
  expect(classes.filter((name, at) => classes.indexOf(name) !== at)).toEqual([]);

  const loaded = (entry: string, seen = new Set<string>()): Set<string> => {
    if (seen.has(entry)) return seen;
    seen.add(entry);
    const imports = readFileSync(join(dist, entry), "utf8").matchAll(/(?:from|import)\s*"(\.[^"]+)"/g);
    for (const [, target] of imports) loaded(join(dirname(entry), target!), seen);
    return seen;
  };
  expect(loaded("index.js").size).toBeLessThanOrEqual(8);
  for (const path of subpaths) {
    const entry = manifest.exports[path].default.replace("./dist/", "");
    expect([path, loaded(entry).size > (path === ALL_DRIVERS ? 24 : 16)]).toEqual([path, false]);
  }
});

test("all entry points share one class of each error", () => {
  const script = `
    import { InvalidArgument, WadiError } from "wadi";
    import { createHandler } from "wadi/http";
    import { fromDrizzle } from "wadi/drizzle";
    for (const call of [() => createHandler({}), () => fromDrizzle({})]) {
      try { call(); } catch (error) { console.log(error instanceof InvalidArgument, error instanceof WadiError); }
    }`;
  writeFileSync(join(project, "errors.js"), script);
  const output = execFileSync(process.execPath, ["errors.js"], { cwd: project, encoding: "utf8" });
  expect(output).toBe("true true\ntrue true\n");
});

const packedFiles = (): string[] =>
  readdirSync(join(project, "node_modules/wadi"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(join(project, "node_modules/wadi"), join(parentPath, name)));

test("it contains the build, the protocol, the documents and the code they link to, and nothing else", () => {
  const expected = [
    /^dist\/.+\.(js|d\.ts)$/,
    /^protocol\/.+\.(sql|json|md)$/,
    /^docs\/.+\.md$/,
    /^(examples|functions)\/.+\.(ts|md)$/,
    /^(package\.json|wrangler\.toml|vercel\.json|[A-Z]+(\.md)?)$/,
  ];
  const files = packedFiles();
  expect(files.filter((file) => !expected.some((pattern) => pattern.test(file)))).toEqual([]);
  expect(files).toContain("protocol/migrations/sqlite/0001_tables.sql");
});

test("each link of its documents leads to a file or folder of the package", () => {
  const files = packedFiles();
  const exists = (path: string) => path === "." || files.some((file) => `${file}/`.startsWith(`${path}/`));
  const links = files
    .filter((file) => file.endsWith(".md"))
    .flatMap((file) => {
      const text = readFileSync(join(project, "node_modules/wadi", file), "utf8").replace(
        /^```.*?^```/gms,
        "",
      );
      return [...text.matchAll(/\]\((?!\w+:|#)([^)#]+)/g)].map(
        ([, to]) => [file, join(dirname(file), to!)] as const,
      );
    });
  expect(links.length).toBeGreaterThan(50);
  const broken = links.filter(([, to]) => !exists(to.replace(/\/$/, "")));
  expect(broken.map(([from, to]) => `${from} -> ${to}`)).toEqual([]);
});

test("it depends on croner alone, and every package it works with is an optional peer", () => {
  expect(Object.keys(manifest.dependencies)).toEqual(["croner"]);
  expect(Object.keys(manifest.peerDependenciesMeta)).toEqual(Object.keys(manifest.peerDependencies));
  expect(Object.keys(manifest.peerDependencies)).toEqual(expect.arrayContaining(Object.values(NEEDS)));
});

test("dependencies are pinned, and the lock file holds no address of a registry", () => {
  const versions: string[] = Object.values({ ...manifest.devDependencies, ...manifest.dependencies });
  expect(versions.filter((version) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
  expect(readFileSync("package-lock.json", "utf8")).not.toContain('"resolved"');
});
