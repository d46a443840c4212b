import { build } from "esbuild";

/** The text of one ES module for workerd, with everything that the entry point imports. */
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
