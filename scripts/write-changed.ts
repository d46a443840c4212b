import { readFileSync, writeFileSync } from "node:fs";
import { relative } from "node:path";

/** Writes a file unless it already has this text, and reports on stderr whether it did. */
export function writeChanged(path: string, text: string): void {
  const shown = relative(process.cwd(), path);
  if (readFileSync(path, "utf8") === text) {
    console.error(`${shown} has not changed`);
  } else {
    writeFileSync(path, text);
    console.error(`wrote ${shown}`);
  }
}
