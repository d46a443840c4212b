import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const r = await build({
  entryPoints: [process.argv[2] ?? "src/index.ts"],
  bundle: true,
  minify: true,
  format: "esm",
  platform: "neutral",
  write: false,
  metafile: true,
  external: ["node:*"],
  conditions: [],
  target: undefined,
});
const out = Object.values(r.metafile.outputs)[0];
const rooms = {};
for (const [f, { bytesInOutput }] of Object.entries(out.inputs)) {
  const k = f
    .split("/")
    .slice(0, 3)
    .join("/")
    .replace(/\/[^/]*\.ts$/, "");
  rooms[k] = (rooms[k] ?? 0) + bytesInOutput;
}
console.log(r.outputFiles[0].contents.length, gzipSync(r.outputFiles[0].contents).length, rooms);
if (process.argv[3])
  for (const [f, { bytesInOutput }] of Object.entries(out.inputs)
    .sort((a, b) => b[1].bytesInOutput - a[1].bytesInOutput)
    .slice(0, 60))
    console.log(bytesInOutput, f);
