// Prints the public surface of the package, or writes its snapshot in test/surface.
import { join } from "node:path";
import { readOptions } from "./options.ts";
import { withDeclared } from "./surface/declared.ts";
import { fingerprint, printSurface } from "./surface/print.ts";
import { writeChanged } from "./write-changed.ts";

const SNAPSHOT = join(import.meta.dirname, "../test/surface/surface.txt");

const options = readOptions("surface", {
  write: { about: "write the snapshot, and say what CHANGELOG.md must hold" },
});
const surface = withDeclared(printSurface);
if (options.write) {
  writeChanged(SNAPSHOT, surface);
  console.error(
    `CHANGELOG.md, under Unreleased: say what changed, and set <!-- surface ${fingerprint(surface)} -->`,
  );
} else {
  process.stdout.write(surface);
}
