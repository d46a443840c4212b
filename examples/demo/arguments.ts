import { basename } from "node:path";

/**
 * What this program was called with, one string for each name; a last name that ends in "..." takes one or more.
 * `--help` says how to call the program and ends it; so do too few or too many and any option, with exit code 2.
 */
export function programArguments<Names extends string[]>(...names: Names): { [I in keyof Names]: string } {
  const given = process.argv.slice(2);
  const takesMore = names.at(-1)?.endsWith("...") ?? false;
  const usage = `usage: node examples/demo/${basename(process.argv[1] ?? "")} ${names.join(" ")}`;
  if (given.includes("--help") || given.includes("-h")) {
    console.log(usage);
    process.exit(0);
  }
  const option = given.find((argument) => argument.startsWith("-"));
  if (option !== undefined) console.error(`there is no option ${option}`);
  if (option !== undefined || given.length < names.length || (given.length > names.length && !takesMore)) {
    console.error(usage);
    process.exit(2);
  }
  return given as { [I in keyof Names]: string };
}
