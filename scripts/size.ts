// Measures the minified and gzipped size of what a user's bundler pulls in.
//   npm run size -- [--files] [--json] [--write]
// --files says what is inside; --write sets the ceilings 3 % above what was measured, the core's 12 KiB at most.
import { parseArgs } from "node:util";
import { bundles, type Measured, measureBundle, writeCeilings } from "./size/bundles.ts";
import { textTable } from "./text-table.ts";

const CORE_CEILING = 12 * 1024;

function readOptions() {
  const { values } = parseArgs({
    options: { files: { type: "boolean" }, json: { type: "boolean" }, write: { type: "boolean" } },
  });
  return values;
}

function report(sizes: readonly Measured[], withFiles: boolean): string {
  const rows = sizes.flatMap(({ bundle, gzipBytes, ceiling, files }) => [
    [bundle, gzipBytes, ceiling],
    ...(withFiles ? files.map(([file, bytes]) => [`  ${file}`, bytes, null]) : []),
  ]);
  const heading = ["bundle", withFiles ? "gzip bytes (files: minified)" : "gzip bytes", "ceiling"];
  return textTable([heading, ...rows]);
}

let options: ReturnType<typeof readOptions>;
try {
  options = readOptions();
} catch (error) {
  console.error(`size: ${(error as Error).message}`);
  process.exit(2);
}
const sizes = await Promise.all(Object.keys(bundles).map(measureBundle));
if (options.write) {
  const roomy = ({ bundle, gzipBytes }: Measured) =>
    Math.min(Math.ceil(gzipBytes * 1.03), bundle === "core" ? CORE_CEILING : Number.POSITIVE_INFINITY);
  writeCeilings(Object.fromEntries(sizes.map((size) => [size.bundle, roomy(size)])));
}
if (!options.json) console.log(report(sizes, options.files ?? false));
const measured = options.write ? await Promise.all(Object.keys(bundles).map(measureBundle)) : sizes;
for (const { bundle, gzipBytes, ceiling } of measured) {
  if (gzipBytes <= ceiling) continue;
  console.error(`${bundle} is ${gzipBytes} bytes, ${gzipBytes - ceiling} above its ceiling; see --files`);
  process.exitCode = 1;
}
if (options.json) console.log(JSON.stringify(measured.map(({ files: _, ...size }) => size)));
