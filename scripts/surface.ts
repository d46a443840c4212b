// Prints the public surface of the package, or writes its snapshot in test/surface.
import { join } from "node:path";
import { readOptions } from "./options.ts";
import { withDeclared } from "./surface/declared.ts";
import { formatNames, namesIn } from "./surface/names.ts";
import { fingerprint, printSurface } from "./surface/print.ts";
import { writeChanged } from "./write-changed.ts";

const SNAPSHOT = join(import.meta.dirname, "../test/surface/surface.txt");
const RELEASED = join(import.meta.dirname, "../test/surface/released.txt");

const options = readOptions("surface", {
  write: { about: "write the snapshot, and say what CHANGELOG.md must hold" },
  release: { about: "take its names as those of the release that is made" },
});
const surface = withDeclared(printSurface);
if (options.release) writeChanged(RELEASED, formatNames(namesIn(surface)));
if (options.write) {
  writeChanged(SNAPSHOT, surface);
  console.error(
    `CHANGELOG.md, under Unreleased: say what changed, and set <!-- surface ${fingerprint(surface)} -->`,
  );
} else if (!options.release) {
  process.stdout.write(surface);
}
