// Builds dist/ from src/: a declaration for each source file, and a few files of code.
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { declare, entryPoints } from "./build/declarations.ts";

const ROOT = join(import.meta.dirname, "..");
const DIST = join(ROOT, "dist");

rmSync(DIST, { recursive: true, force: true });
declare(DIST);
await bundle();

/**
 * One file for each entry point of package.json, and chunks for code that several of them share, so that nothing exists
 * twice: to load a hundred small files takes Node three times as long. Packages stay imports, names stay readable.
 */
async function bundle(): Promise<void> {
  await build({
    absWorkingDir: ROOT,
    entryPoints: entryPoints().map(({ path }) => `src/${path}.ts`),
    outdir: "dist",
    outbase: "src",
    bundle: true,
    splitting: true,
    chunkNames: "chunks/[hash]",
    format: "esm",
    platform: "neutral",
    target: "es2023",
    packages: "external",
    logLevel: "warning",
  });
  // No file has side effects, so an import for its effects alone has no effect, and bundlers warn of it.
  for (const file of globSync("**/*.js", { cwd: DIST })) {
    const path = join(DIST, file);
    writeFileSync(path, readFileSync(path, "utf8").replace(/^import "\.{1,2}\/[^"]+";\n/gm, ""));
  }
}
