// npm installs the package next to any version of its optional peers.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

interface Manifest {
  readonly name: string;
  readonly version: string;
}

const manifest = JSON.parse(readFileSync("package.json", "utf8"));
let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "wadi-peers-"));
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** A tarball of a package that is nothing but its manifest: all that npm looks at to resolve it. */
function pack(content: Manifest): string {
  const source = mkdtempSync(join(directory, "source-"));
  mkdirSync(join(source, "package"));
  writeFileSync(join(source, "package/package.json"), JSON.stringify(content));
  const tarball = join(source, "package.tgz");
  execFileSync("tar", ["-czf", tarball, "-C", source, "package"]);
  return tarball;
}

test.each(["0.0.1", "99.0.0-beta.1"])(
  "npm installs it next to version %s of every optional peer",
  (version) => {
    const { name, version: own, peerDependencies, peerDependenciesMeta } = manifest;
    const peers = Object.keys(peerDependencies);
    const dependencies = Object.fromEntries(
      peers.map((peer) => [peer, `file:${pack({ name: peer, version })}`]),
    );
    const project = mkdtempSync(join(directory, "project-"));
    const app = { name: "app", version: "1.0.0", dependencies };
    writeFileSync(join(project, "package.json"), JSON.stringify(app));
    const wadi = pack({ name, version: own, peerDependencies, peerDependenciesMeta } as Manifest);
    const args = ["install", "--offline", "--package-lock-only", "--no-audit", "--no-fund", wadi];
    const { status, stderr } = spawnSync("npm", args, { cwd: project, encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
    const { packages } = JSON.parse(readFileSync(join(project, "package-lock.json"), "utf8"));
    for (const peer of peers) expect(packages[`node_modules/${peer}`].version).toBe(version);
  },
);

test("every optional peer accepts any version", () => {
  expect(new Set(Object.values(manifest.peerDependencies))).toEqual(new Set(["*"]));
});
