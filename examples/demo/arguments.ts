import { basename } from "node:path";

/**
 * What this program was called with, one string for each name; a last name that ends in "..." takes one or more.
 * With too few or too many it says how to call the program and ends it with exit code 2.
 */
export function programArguments<Names extends string[]>(...names: Names): { [I in keyof Names]: string } {
  const given = process.argv.slice(2);
  const takesMore = names.at(-1)?.endsWith("...") ?? false;
  if (given.length < names.length || (given.length > names.length && !takesMore)) {
    console.error(`usage: node examples/demo/${basename(process.argv[1] ?? "")} ${names.join(" ")}`);
    process.exit(2);
  }
  return given as { [I in keyof Names]: string };
}
