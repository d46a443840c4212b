// Measures the minified and gzipped size of what a user's bundler pulls in. Exits with 1 if one is above its ceiling.

import { readOptions } from "./options.ts";
import { bundles, type Measured, measureBundle, writeCeilings } from "./size/bundles.ts";
import { textTable } from "./text-table.ts";

const CORE_CEILING = 13 * 1024;

function report(sizes: readonly Measured[], withFiles: boolean): string {
  const rows = sizes.flatMap(({ bundle, gzipBytes, ceiling, files }) => [
    [bundle, gzipBytes, ceiling],
    ...(withFiles ? files.map(([file, bytes]) => [`  ${file}`, bytes, null]) : []),
  ]);
  const heading = ["bundle", withFiles ? "gzip bytes (files: minified)" : "gzip bytes", "ceiling"];
  return textTable([heading, ...rows]);
}

const options = readOptions("size", {
  files: { about: "say what is inside of each bundle" },
  json: { about: "print the sizes as one line of JSON instead of a table" },
  write: { about: "set the ceilings 3 % above what is measured, the core's 13 KiB at most" },
});
const sizes = await Promise.all(Object.keys(bundles).map(measureBundle));
if (options.write) {
  const roomy = ({ bundle, gzipBytes }: Measured) =>
    Math.min(Math.ceil(gzipBytes * 1.03), bundle === "core" ? CORE_CEILING : Number.POSITIVE_INFINITY);
  writeCeilings(Object.fromEntries(sizes.map((size) => [size.bundle, roomy(size)])));
}
if (!options.json) console.log(report(sizes, options.files));
const measured = options.write ? await Promise.all(Object.keys(bundles).map(measureBundle)) : sizes;
for (const { bundle, gzipBytes, ceiling } of measured) {
  if (gzipBytes <= ceiling) continue;
  console.error(`${bundle} is ${gzipBytes} bytes, ${gzipBytes - ceiling} above its ceiling; see --files`);
  process.exitCode = 1;
}
if (options.json) console.log(JSON.stringify(measured.map(({ files: _, ...size }) => size)));
