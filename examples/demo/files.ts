import { readdirSync } from "node:fs";
import { join } from "node:path";

/** The folder of this repository. */
export const ROOT = join(import.meta.dirname, "../..");

const KINDS = /\.(md|sql|ts)$/;
const SKIPPED = new Set([".git", ".tmp", ".wrangler", "dist", "node_modules"]);

/** Paths of the repository's Markdown, SQL and TypeScript files, relative to its folder, in a fixed order. */
export function repositoryFiles(folder = ""): string[] {
  const entries = readdirSync(join(ROOT, folder), { withFileTypes: true });
  return entries
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : repositoryFiles(path);
      return entry.isFile() && KINDS.test(entry.name) ? [path] : [];
    });
}
