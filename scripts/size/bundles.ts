// The entry points as an application's bundler sees them, and their gzipped sizes.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type BuildOptions, build } from "esbuild";
import { writeChanged } from "../write-changed.ts";

const ROOT = join(import.meta.dirname, "../..");
const CEILINGS = join(ROOT, "test/size/ceilings.json");

/** Loads croner, when the first slot of an expression is computed: a chunk apart where the bundler splits. */
const CRON = "cron expressions";

/** The bundles that an application may have, by the modules that each exports. */
export const bundles: Readonly<Record<string, string | readonly string[]>> = {
  core: [
    "src/core/session/session.ts",
    ...["claim", "control", "fence", "lease", "read", "settle", "submit"].map(
      (name) => `src/core/operations/${name}.ts`,
    ),
    "src/core/errors/errors.ts",
    "src/core/task.ts",
  ],
  producer: ["src/producer/wadi.ts", "src/producer/define-task.ts"],
  "producer+worker": "src/index.ts",
  [CRON]: "src/schedules/cron-slots.ts",
  "better-sqlite3": "src/drivers/better-sqlite3.ts",
  libsql: "src/drivers/libsql.ts",
  pg: "src/drivers/pg.ts",
  neon: "src/drivers/neon.ts",
  d1: "src/drivers/d1.ts",
  opentelemetry: "src/opentelemetry/index.ts",
  "durable-object": "src/drivers/durable-object.ts",
  pglite: "src/drivers/pglite.ts",
  drizzle: "src/drizzle/index.ts",
  "drizzle/sqlite": "src/drizzle/sqlite.ts",
  "drizzle/postgres": "src/drizzle/postgres.ts",
  http: "src/http/index.ts",
  "cloudflare-worker": "functions/cloudflare/worker.ts",
};

export interface BundleSize {
  readonly bundle: string;
  readonly gzipBytes: number;
  readonly ceiling: number;
}

export interface Measured extends BundleSize {
  /** Minified bytes of each source file in the bundle, largest first. */
  readonly files: readonly (readonly [file: string, bytes: number])[];
}

export async function measureBundle(bundle: string): Promise<Measured> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    ...entryOf(bundles[bundle]!),
    outfile: `${bundle}.js`,
    bundle: true,
    minify: true,
    format: "esm",
    platform: "neutral",
    external: ["@opentelemetry/api", "drizzle-orm", ...(bundle === CRON ? [] : ["croner"])],
    metafile: true,
    write: false,
  });
  const files = Object.entries(Object.values(metafile.outputs)[0]!.inputs)
    .map(([file, { bytesInOutput }]) => [file, bytesInOutput] as const)
    .sort(([, a], [, b]) => b - a);
  const gzipBytes = gzipSync(outputFiles[0]!.contents, { level: 9 }).length;
  return { bundle, gzipBytes, ceiling: readCeilings()[bundle] ?? 0, files };
}

function entryOf(modules: string | readonly string[]): BuildOptions {
  if (typeof modules === "string") return { entryPoints: [modules] };
  const contents = modules.map((module) => `export * from "./${module}";`).join("\n");
  return { stdin: { contents, resolveDir: ROOT } };
}

export function readCeilings(): Record<string, number> {
  return JSON.parse(readFileSync(CEILINGS, "utf8")) as Record<string, number>;
}

export function writeCeilings(ceilings: Record<string, number>): void {
  writeChanged(CEILINGS, `${JSON.stringify(ceilings, null, 2)}\n`);
}
