// The declarations that the package is published with, and the entry points that package.json names.
import { spawnSync } from "node:child_process";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");

export interface EntryPoint {
  /** As an application imports it, such as `wadi/pg`. */
  readonly name: string;
  /** Its path in src and, with another extension, in dist: `drivers/pg`. */
  readonly path: string;
}

/** Every entry point with code or types, in the order of package.json. */
export function entryPoints(): EntryPoint[] {
  const { exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    exports: Record<string, string | { readonly default: string }>;
  };
  return Object.entries(exports).flatMap(([subpath, target]) =>
    typeof target === "string"
      ? []
      : [
          {
            name: subpath.replace(/^\./, "wadi"),
            path: target.default.replace(/^\.\/dist\/(.*)\.js$/, "$1"),
          },
        ],
  );
}

/** Writes the declaration of each source file to `outDir`. @throws if a source file has errors. */
export function declare(outDir: string): void {
  const args = ["-p", "tsconfig.build.json", "--emitDeclarationOnly", "--outDir", outDir];
  const tsc = join(ROOT, "node_modules/.bin/tsc");
  const { status } = spawnSync(tsc, args, { cwd: ROOT, stdio: "inherit" });
  if (status !== 0) throw new Error(`tsc wrote no declarations (exit code ${status})`);
  // The compiler rewrites the extensions of imports in code, but not in declarations.
  for (const file of globSync("**/*.d.ts", { cwd: outDir })) {
    const path = join(outDir, file);
    const text = readFileSync(path, "utf8");
    writeFileSync(path, text.replace(/((?:from|import)\s*\(?\s*"\.{1,2}\/[^"]+)\.ts"/g, '$1.js"'));
  }
}
