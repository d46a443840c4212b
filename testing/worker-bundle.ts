import { build } from "esbuild";

/** Bundles an entry point with all of its imports into the text of one ES module for workerd. */
export async function bundleForWorker(entryPoint: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entryPoint],
    bundle: true,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    write: false,
  });
  return outputFiles[0]!.text;
}
