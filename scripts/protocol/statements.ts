/**
 * Compiles the statements of a dialect: one file each, whose head says what it guarantees (a summary in comments), then
 * `-- @param name type` for each `:name` (`?` behind the type: may be null), `-- @returns` the columns, and
 * `-- @only dialect: why` where the other dialect has no such statement.
 */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expand, type Fragments, parseFragment } from "./fragments.ts";
import { compact, mapCode, splitStatements, withoutComments } from "./sql-text.ts";

export const DIALECTS = ["sqlite", "postgres"] as const;
export type Dialect = (typeof DIALECTS)[number];

const TYPES: Record<string, string> = { text: "string", json: "string", integer: "number", real: "number" };

export interface Header {
  /** The TypeScript type of each parameter. */
  readonly params: ReadonlyMap<string, string>;
  readonly returns: string;
  readonly only: string | null;
}

export interface Statement {
  readonly sql: string;
  /** The parameter for each placeholder, in their order. */
  readonly params: readonly string[];
  readonly header: Header;
}

export type Statements = ReadonlyMap<string, Statement>;

/** Every statement in `folder`, by name. */
export function readStatements(dialect: Dialect, folder: string): Statements {
  const fragments: Fragments = readFiles(join(folder, "fragments"), parseFragment);
  const used = new Set<string>();
  const statements = readFiles(folder, (file, text) =>
    compile(dialect, `${dialect}/${file}`, text, (sql) =>
      expand(file, sql, fragments, (name) => used.add(name)),
    ),
  );
  for (const name of fragments.keys())
    if (!used.has(name)) throw new Error(`${dialect}/fragments/${name}.sql: no statement uses it`);
  return statements;
}

/** The result of `read` for each .sql file in a folder, by the file's name without its extension. */
function readFiles<T>(folder: string, read: (file: string, text: string) => T): Map<string, T> {
  const files = readdirSync(folder).filter((file) => file.endsWith(".sql"));
  const entry = (file: string) =>
    [basename(file, ".sql"), read(file, readFileSync(join(folder, file), "utf8"))] as const;
  return new Map(files.sort().map(entry));
}

function compile(dialect: Dialect, file: string, text: string, expanded: (sql: string) => string): Statement {
  const header = parseHeader(file, text);
  const source = compact(expanded(withoutComments(text)));
  if (splitStatements(source).length !== 1) throw new Error(`${file}: must hold exactly one statement`);
  if (/^(begin|commit|rollback|savepoint)\b/i.test(source))
    throw new Error(`${file}: a statement may not control the transaction`);
  const params: string[] = [];
  const sql = mapCode(source, (code) =>
    code.replace(/::|:([a-z_][a-z0-9_]*)/g, (cast, name?: string) => {
      if (name === undefined) return cast;
      if (!header.params.has(name)) throw new Error(`${file}: :${name} has no @param line`);
      if (dialect === "sqlite" || !params.includes(name)) params.push(name);
      return dialect === "sqlite" ? "?" : `$${params.indexOf(name) + 1}`;
    }),
  );
  for (const name of header.params.keys())
    if (!params.includes(name)) throw new Error(`${file}: @param ${name} is not used`);
  return { sql, params, header };
}

function parseHeader(file: string, text: string): Header {
  const comments = text.split("\n").filter((line) => line.startsWith("-- "));
  if (comments[0] === undefined || comments[0].startsWith("-- @"))
    throw new Error(`${file}: the first line must be a summary`);
  const params = new Map<string, string>();
  let returns = "";
  let only: string | null = null;
  for (const line of comments) {
    const param = /^-- @param (\w+) (\w+)(\??)$/.exec(line);
    if (line.startsWith("-- @param")) {
      const type = param === null ? undefined : TYPES[param[2]!];
      if (param === null || type === undefined) throw new Error(`${file}: cannot read "${line}"`);
      params.set(param[1]!, type + (param[3] === "?" ? " | null" : ""));
    }
    if (line.startsWith("-- @returns ")) returns = line.slice("-- @returns ".length);
    if (line.startsWith("-- @only ")) only = line.slice("-- @only ".length);
  }
  if (returns === "") throw new Error(`${file}: @returns is missing`);
  return { params, returns, only };
}

/** Fails unless the dialects have the same statements, with the same parameters and columns. */
export function checkTwins(all: Record<Dialect, Statements>): void {
  for (const dialect of DIALECTS) {
    const other = dialect === "sqlite" ? "postgres" : "sqlite";
    for (const [name, { header }] of all[dialect]) {
      const twin = all[other].get(name)?.header;
      if (header.only !== null) {
        if (!header.only.startsWith(`${dialect}: `))
          throw new Error(`${dialect}/${name}: @only must name its own dialect and say why`);
        if (twin !== undefined) throw new Error(`${dialect}/${name}: is @only but ${other} has it too`);
        continue;
      }
      if (twin === undefined) throw new Error(`${other}/${name}.sql is missing`);
      if (shape(twin) !== shape(header))
        throw new Error(`${name}: parameters or returns differ between ${dialect} and ${other}`);
    }
  }
}

function shape({ params, returns }: Header): string {
  return JSON.stringify([[...params].sort(), returns]);
}
