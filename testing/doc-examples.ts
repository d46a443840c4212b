// Takes the code blocks out of the documents, writes them to files and type-checks or runs them.

import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, parse, resolve } from "node:path";

const ROOT = join(import.meta.dirname, "..");

/** A `ts` block of a document. */
export interface Example {
  /** Path of the document from the root, and the line of the block's fence. */
  readonly document: string;
  readonly line: number;
  /** Marked `ts run`: it is a whole program. */
  readonly runs: boolean;
  readonly code: string;
}

/** The documents with examples. */
export function documents(): string[] {
  return globSync(["README.md", "docs/*.md", "protocol/*.md", "functions/README.md"], { cwd: ROOT }).sort();
}

export function examplesOf(document: string): Example[] {
  return extract(document, readFileSync(join(ROOT, document), "utf8"));
}

export function extract(document: string, markdown: string): Example[] {
  return [...markdown.matchAll(/^```ts( run)?\n([\s\S]*?)^```$/gm)].map((match) => ({
    document,
    line: markdown.slice(0, match.index).split("\n").length,
    runs: match[1] !== undefined,
    code: match[2]!,
  }));
}

/** The sources behind the package's entry points: `wadi` and `wadi/pg` as the examples import them. */
const ENTRIES = Object.entries(JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).exports)
  .filter((entry): entry is [string, { default: string }] => typeof entry[1] === "object")
  .map(([path, target]): [string, string] => [
    path.replace(/^\./, "wadi"),
    join(ROOT, target.default.replace("./dist/", "src/").replace(/\.js$/, ".ts")),
  ]);
const SOURCES = new Map(ENTRIES);

/** Resolves imports of the package to its sources, and relative imports from the folder of the document. */
function resolved({ document, code }: Example): string {
  return code.replace(/(\bfrom |^import |\bimport\()"([^"]+)"/gm, (_, before: string, specifier: string) => {
    const target = specifier.startsWith(".") ? resolve(ROOT, document, "..", specifier) : specifier;
    return `${before}"${SOURCES.get(specifier) ?? target}"`;
  });
}

/** Writes the examples to a new folder in the repository, where its packages resolve. */
function write(examples: readonly Example[]): { folder: string; files: string[]; remove(): void } {
  mkdirSync(join(ROOT, ".tmp"), { recursive: true });
  const folder = mkdtempSync(join(ROOT, ".tmp/docs-examples-"));
  const files = examples.map((example) => {
    const file = join(folder, `${parse(example.document).name}-${example.line}.ts`);
    // On the same line as in the document, so that an error names the line to correct.
    writeFileSync(file, `${"\n".repeat(example.line)}${resolved(example)}export {};\n`);
    return file;
  });
  return { folder, files, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Runs `work` while the examples exist as files. */
function inFolder<T>(examples: readonly Example[], work: (folder: string, files: string[]) => T): T {
  const { folder, files, remove } = write(examples);
  try {
    return work(folder, files);
  } finally {
    remove();
  }
}

/** What an example exports. */
export async function load(example: Example): Promise<Record<string, unknown>> {
  const { files, remove } = write([example]);
  try {
    return await import(files[0]!);
  } finally {
    remove();
  }
}

/**
 * The compiler's errors in the examples, one line each, such as `README-13.ts(16,7): error TS2322: …`. `globals`
 * is a module that declares what all of them may use.
 */
export function typeErrors(examples: readonly Example[], globals = ""): string[] {
  return inFolder(examples, (folder) => {
    writeFileSync(
      join(folder, "globals.ts"),
      resolved({ document: "", line: 0, runs: false, code: globals }),
    );
    const compilerOptions = { rewriteRelativeImportExtensions: false }; // it wants relative paths, and these are not
    const config = { extends: join(ROOT, "tsconfig.json"), compilerOptions, include: ["*.ts"] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    const tsc = join(ROOT, "node_modules/.bin/tsc");
    const { stdout, error } = spawnSync(tsc, ["-p", ".", "--pretty", "false"], {
      cwd: folder,
      encoding: "utf8",
    });
    if (error !== undefined) throw error;
    return stdout.split("\n").filter((line) => line.trim() !== "");
  });
}

/** Runs a whole program and returns how it ended. */
export function run(example: Example): { readonly status: number | null; readonly output: string } {
  return inFolder([example], (folder, [file]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [file!], {
      cwd: folder,
      encoding: "utf8",
      timeout: 20_000,
    });
    return { status, output: stdout + stderr };
  });
}
