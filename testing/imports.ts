// Reads which file imports which, and finds the imports that go in a circle.

import { globSync, readFileSync } from "node:fs";
import { posix } from "node:path";

export interface Import {
  /** A path from the root of the repository, or the name of a package. */
  readonly target: string;
  readonly isType: boolean;
}

export const read = (file: string) => readFileSync(file, "utf8");
export const filesOf = (room: string) =>
  globSync(`${room}/**/*.{ts,mts,js,mjs}`).filter((file) => !/\/generated\//.test(file));

const IMPORT =
  /^\s*(?:import|export)\s+(type\s+)?(?:[^;"']*?\bfrom\s*)?"([^"]+)"|\bimport\s*\(\s*"([^"]+)"/gm;

export function importsOf(file: string): Import[] {
  return [...read(file).matchAll(IMPORT)].map(([, type, from, dynamic]) => {
    const target = (from ?? dynamic)!;
    return {
      target: target.startsWith(".") ? posix.join(posix.dirname(file), target) : target,
      isType: type !== undefined,
    };
  });
}

/** Files that import each other, types included: one path for each circle, from a file back to itself. */
export function importCycles(rooms: readonly string[]): string[][] {
  const imports = new Map(rooms.flatMap(filesOf).map((file) => [file, importsOf(file)]));
  const done = new Set<string>();
  const cycles: string[][] = [];
  const visit = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file);
    if (start >= 0) return void cycles.push([...path.slice(start), file]);
    if (done.has(file)) return;
    for (const { target } of imports.get(file) ?? []) visit(target, [...path, file]);
    done.add(file);
  };
  for (const file of imports.keys()) visit(file, []);
  return cycles;
}
