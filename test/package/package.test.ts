import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const subpaths = Object.keys(manifest.exports).filter((path) => !path.endsWith(".json"));

/** Entry points that are nothing without a package, which is an optional peer. */
const NEEDS: Readonly<Record<string, string>> = {
  "./opentelemetry": "@opentelemetry/api",
  "./drizzle/sqlite": "drizzle-orm",
  "./drizzle/postgres": "drizzle-orm",
};

let project: string;

/** A project that has nothing but the packed package. */
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
  expect(execFileSync(process.execPath, ["load.js"], { cwd: project, encoding: "utf8" })).toBe("true\n");
});

test("it holds the build, the protocol and its papers, and nothing else", () => {
  const files = execFileSync("find", [".", "-type", "f"], {
    cwd: join(project, "node_modules/wadi"),
    encoding: "utf8",
  });
  const strangers = files
    .trim()
    .split("\n")
    .filter(
      (file) =>
        !/^\.\/(dist\/.+\.(js|d\.ts)|protocol\/.+\.(sql|json|md)|docs\/.+\.md|[A-Z]+(\.md)?|package\.json)$/.test(
          file,
        ),
    );
  expect(strangers).toEqual([]);
  expect(files).toContain("./protocol/migrations/sqlite/0001_tables.sql");
});

test("it needs nothing at run time, and whatever it goes with is an optional peer", () => {
  expect(manifest.dependencies).toBeUndefined();
  expect(Object.keys(manifest.peerDependenciesMeta)).toEqual(Object.keys(manifest.peerDependencies));
  expect(Object.keys(manifest.peerDependencies)).toEqual(expect.arrayContaining(Object.values(NEEDS)));
});

test("dependencies are pinned, and the lock file holds no address of a registry", () => {
  const versions = Object.values(manifest.devDependencies as Record<string, string>);
  expect(versions.filter((version) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
  expect(readFileSync("package-lock.json", "utf8")).not.toContain('"resolved"');
});
