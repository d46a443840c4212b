import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import * as cron from "./cron.ts";
import * as submit from "./submit.ts";
import * as wait from "./wait.ts";

/*
 * The build command of vercel.json. Vercel finds functions by itself only in a folder `api/`, so this writes what it
 * deploys as it is (its Build Output API): each function bundled into one file, served at /api/<name>.
 */
const functions = { cron, submit, wait };
const here = fileURLToPath(new URL(".", import.meta.url));

/** Writes the deployment to `outputDir`. */
export async function buildOutput(outputDir: string): Promise<void> {
  await rm(outputDir, { recursive: true, force: true });
  for (const [name, { maxDuration }] of Object.entries(functions)) {
    const directory = join(outputDir, "functions", "api", `${name}.func`);
    await mkdir(directory, { recursive: true });
    await build({
      entryPoints: [join(here, `${name}.ts`)],
      outfile: join(directory, "index.mjs"),
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node22",
      // The libSQL client without its native file engine: a function has no disk that lasts.
      conditions: ["edge-light"],
      logLevel: "warning",
    });
    await writeJson(join(directory, ".vc-config.json"), {
      runtime: "nodejs24.x",
      handler: "index.mjs",
      launcherType: "Nodejs",
      shouldAddHelpers: false,
      maxDuration,
    });
  }
  await writeJson(join(outputDir, "config.json"), { version: 3 });
}

function writeJson(path: string, value: unknown): Promise<void> {
  return writeFile(path, `${JSON.stringify(value, null, 2)}\n`);
}

if (import.meta.main) await buildOutput(".vercel/output");
