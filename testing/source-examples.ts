// The `@example` blocks of the source, and the names that they may use without saying where they come from.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Example } from "./doc-examples.ts";

const ROOT = join(import.meta.dirname, "..");

/** The objects that examples of methods use: those that the examples of the classes create. */
export const EXAMPLE_GLOBALS = `
import type * as wadiTypes from "wadi";
import type { Executor } from "wadi/driver";

declare global {
  const executor: Executor;
  const wadi: wadiTypes.Wadi;
  const worker: wadiTypes.Worker;
  const context: wadiTypes.TaskContext<{ url: string }, { bytes: number }>;
  const resize: wadiTypes.TaskDefinition<{ url: string }, { url: string }, { bytes: number }>;
  const db: import("better-sqlite3").Database;
  const env: { readonly [name: string]: string };
  function resizeImage(url: string, signal?: AbortSignal): Promise<number>;
  function sendMail(address: string): Promise<void>;
}
`;

/** Every example in a comment of a file of src. */
export function sourceExamples(): Example[] {
  return globSync("src/**/*.ts", { cwd: ROOT })
    .sort()
    .flatMap((file) => examplesIn(file, readFileSync(join(ROOT, file), "utf8")));
}

export function examplesIn(document: string, source: string): Example[] {
  return [...source.matchAll(/\/\*\*.*?\*\//gs)].flatMap((comment) =>
    [...comment[0].matchAll(/@example\b(.*?)(?=\n\s*\* @|\n?\s*\*\/)/gs)].map((match) => {
      const code = match[1]!.replace(/^[ \t]*\* ?/gm, "").replace(/^```.*$/gm, "");
      const line = source.slice(0, comment.index + match.index).split("\n").length;
      return { document, line: line - 1, runs: false, code: `${code}\n` };
    }),
  );
}
