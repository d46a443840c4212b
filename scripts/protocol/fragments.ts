/**
 * Fragments: SQL that several statements of a dialect share, one file each in
 * `protocol/statements/<dialect>/fragments`.
 *
 * `@name(arguments)` in a statement, or in another fragment, stands for the file `name.sql`. Its head declares the
 * parameters (`-- @param below? what it is`), and its text uses them as `@below`. An argument is SQL up to the next
 * comma. One that is optional (`?`) and left out drops each line of the fragment that uses it.
 */
import { compact, tokenize, withoutComments } from "./sql-text.ts";

export interface Fragment {
  readonly params: readonly { readonly name: string; readonly isOptional: boolean }[];
  readonly sql: string;
}

export type Fragments = ReadonlyMap<string, Fragment>;

const CALL = /@([a-z_]+)\(/;

/** @param file for messages */
export function parseFragment(file: string, text: string): Fragment {
  if (!/^-- [^@]/.test(text)) throw new Error(`${file}: the first line must be a summary`);
  const params = [...text.matchAll(/^-- @param (\w+)(\??) /gm)].map(([, name, optional]) => ({
    name: name!,
    isOptional: optional === "?",
  }));
  const sql = withoutComments(text).trim();
  const declared = new Set(params.map(({ name }) => name));
  const used = new Set([...sql.matchAll(/@([a-z_]+)\b(?!\()/g)].map(([, name]) => name!));
  for (const name of used) if (!declared.has(name)) throw new Error(`${file}: @${name} has no @param line`);
  for (const name of declared) if (!used.has(name)) throw new Error(`${file}: @param ${name} is not used`);
  return { params, sql };
}

/** SQL without calls of fragments. `use` is called with the name of each fragment that stands in it. */
export function expand(file: string, sql: string, fragments: Fragments, use: (name: string) => void): string {
  const call = CALL.exec(sql);
  if (call === null) return sql;
  const name = call[1]!;
  const fragment = fragments.get(name);
  if (fragment === undefined) throw new Error(`${file}: there is no fragment ${name}`);
  use(name);
  const { args, end } = readArguments(file, sql, call.index + call[0].length);
  const body = substitute(`${file}: @${name}`, fragment, args);
  return sql.slice(0, call.index) + expand(file, body + sql.slice(end), fragments, use);
}

/** Reads the arguments of a call from behind its opening parenthesis to the closing one. */
function readArguments(file: string, sql: string, from: number): { args: string[]; end: number } {
  const args = [""];
  let end = from;
  let depth = 0;
  for (const { kind, text } of tokenize(sql.slice(from))) {
    for (const part of kind === "code" ? text : [text]) {
      end += part.length;
      if (part === ")" && depth-- === 0)
        return { args: args.join("").trim() === "" ? [] : args.map(compact), end };
      if (part === "(") depth++;
      if (part === "," && depth === 0) args.push("");
      else args[args.length - 1] += part;
    }
  }
  throw new Error(`${file}: the arguments of a fragment have no end`);
}

function substitute(call: string, { params, sql }: Fragment, args: readonly string[]): string {
  if (args.length > params.length)
    throw new Error(`${call} takes ${params.length} arguments, got ${args.length}`);
  let body = sql;
  for (const [index, { name, isOptional }] of params.entries()) {
    const use = new RegExp(`@${name}\\b(?!\\()`, "g");
    const arg = args[index];
    if (arg !== undefined) body = body.replace(use, () => arg);
    else if (isOptional) body = body.replace(new RegExp(`^.*${use.source}.*\n?`, "gm"), "");
    else throw new Error(`${call} lacks the argument ${name}`);
  }
  return body.trim();
}
