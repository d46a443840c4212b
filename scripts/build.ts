// Compiles src/ into dist/, from nothing.
import { spawnSync } from "node:child_process";
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const DIST = join(ROOT, "dist");

rmSync(DIST, { recursive: true, force: true });
const { status } = spawnSync("tsc", ["-p", "tsconfig.build.json"], { cwd: ROOT, stdio: "inherit" });
if (status !== 0) process.exit(status ?? 1);

// The compiler rewrites the extensions of imports in code, but not in declarations.
for (const file of globSync("**/*.d.ts", { cwd: DIST })) {
  const path = join(DIST, file);
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replace(/((?:from|import)\s*\(?\s*"\.{1,2}\/[^"]+)\.ts"/g, '$1.js"'));
}
