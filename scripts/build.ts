// Builds dist/ from src/, from nothing: a declaration for each source file, and few files of code.
import { spawnSync } from "node:child_process";
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const ROOT = join(import.meta.dirname, "..");
const DIST = join(ROOT, "dist");

rmSync(DIST, { recursive: true, force: true });
declare();
await bundle();

function declare(): void {
  const args = ["-p", "tsconfig.build.json", "--emitDeclarationOnly"];
  const { status } = spawnSync("tsc", args, { cwd: ROOT, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
  // The compiler rewrites the extensions of imports in code, but not in declarations.
  for (const file of globSync("**/*.d.ts", { cwd: DIST })) {
    const path = join(DIST, file);
    const text = readFileSync(path, "utf8");
    writeFileSync(path, text.replace(/((?:from|import)\s*\(?\s*"\.{1,2}\/[^"]+)\.ts"/g, '$1.js"'));
  }
}

/**
 * One file for each entry point of package.json, and chunks for what several of them share, so that nothing exists
 * twice: to load a hundred small files takes Node three times as long. Packages stay imports, names stay readable.
 */
async function bundle(): Promise<void> {
  const { exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    exports: Record<string, string | { readonly default: string }>;
  };
  const entryPoints = Object.values(exports).flatMap((target) =>
    typeof target === "string" ? [] : [target.default.replace("./dist/", "src/").replace(/\.js$/, ".ts")],
  );
  await build({
    absWorkingDir: ROOT,
    entryPoints,
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
