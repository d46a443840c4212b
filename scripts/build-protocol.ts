// Compiles protocol/ into src/protocol/ and its types into src/core/generated/, because an edge runtime has no file system.
// `--check` writes nothing and fails if the checked-in module is stale.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compileStatement, splitStatements } from "./sql-text.ts";

const ROOT = join(import.meta.dirname, "..");
const DIALECTS = ["sqlite", "postgres"] as const;
const TYPES: Record<string, string> = { text: "string", json: "string", integer: "number", real: "number" };

type Dialect = (typeof DIALECTS)[number];

interface Header {
  readonly params: ReadonlyMap<string, string>;
  readonly returns: string;
  readonly only: string | null;
}

interface Compiled {
  readonly sql: string;
  readonly params: readonly string[];
  readonly header: Header;
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

/** `@name(t)` stands for the file of that name in `fragments`, with `t` for the row it speaks of. */
function expand(dialect: Dialect, file: string, text: string): string {
  return text.replace(/@([a-z_]+)\((\w*)\)/g, (_, name: string, row: string) => {
    const path = join(ROOT, "protocol/statements", dialect, "fragments", `${name}.sql`);
    if (!existsSync(path)) throw new Error(`${file}: there is no fragment ${name}`);
    return expand(
      dialect,
      file,
      readFileSync(path, "utf8")
        .trim()
        .replace(/\brow(?=[.)])/g, row),
    );
  });
}

function compile(dialect: Dialect, file: string, source: string): Compiled {
  const text = expand(dialect, file, source);
  const header = parseHeader(file, source);
  if (splitStatements(text).length !== 1) throw new Error(`${file}: must hold exactly one statement`);
  const params: string[] = [];
  const sql = compileStatement(text, (name) => {
    if (!header.params.has(name)) throw new Error(`${file}: :${name} has no @param line`);
    if (dialect === "sqlite") {
      params.push(name);
      return "?";
    }
    if (!params.includes(name)) params.push(name);
    return `$${params.indexOf(name) + 1}`;
  });
  for (const name of header.params.keys()) {
    if (!params.includes(name)) throw new Error(`${file}: @param ${name} is not used`);
  }
  if (/^(begin|commit|rollback|savepoint)\b/i.test(sql))
    throw new Error(`${file}: a statement may not control the transaction`);
  return { sql, params, header };
}

function readStatements(dialect: Dialect): Map<string, Compiled> {
  const folder = join(ROOT, "protocol/statements", dialect);
  const files = readdirSync(folder)
    .filter((file) => file.endsWith(".sql"))
    .sort();
  return new Map(
    files.map((file) => [
      file.slice(0, -".sql".length),
      compile(dialect, `${dialect}/${file}`, readFileSync(join(folder, file), "utf8")),
    ]),
  );
}

function checkTwins(all: Record<Dialect, Map<string, Compiled>>): void {
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
      const same =
        JSON.stringify([[...twin.params].sort(), twin.returns]) ===
        JSON.stringify([[...header.params].sort(), header.returns]);
      if (!same) throw new Error(`${name}: parameters or returns differ between ${dialect} and ${other}`);
    }
  }
}

function readMigrations(folder: string): { name: string; statements: string[] }[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".sql"))
    .sort()
    .map((file) => {
      const text = readFileSync(join(folder, file), "utf8");
      return { name: file, statements: splitStatements(text) };
    });
}

const NOTE = "// Generated by scripts/build-protocol.ts from protocol/. Do not edit.";

function renderTypes(all: Record<Dialect, Map<string, Compiled>>): string {
  const params = new Map<string, ReadonlyMap<string, string>>();
  for (const dialect of DIALECTS)
    for (const [name, { header }] of all[dialect]) params.set(name, header.params);
  const fields = [...params].sort().map(([name, types]) => {
    const values = [...types].map(([param, type]) => ` ${param}: ${type};`).join("");
    return values === "" ? `  ${name}: Record<string, never>;` : `  ${name}: {${values} };`;
  });
  return [
    NOTE,
    "",
    "/** The values each statement takes. */",
    "export interface StatementParams {",
    ...fields,
    "}",
    "",
    "export type StatementName = keyof StatementParams;",
    "",
  ].join("\n");
}

function renderMigrations(field: string, folder: string): string[] {
  const migrations = readMigrations(join(ROOT, "protocol/migrations", folder)).map(
    ({ name, statements }) =>
      `    { name: ${JSON.stringify(name)}, statements: ${JSON.stringify(statements)} },`,
  );
  return [`  ${field}: [`, ...migrations, "  ],"];
}

function renderDialect(dialect: Dialect, statements: Map<string, Compiled>): string {
  const compiled = [...statements].map(
    ([name, { sql, params }]) =>
      `    ${name}: { sql: ${JSON.stringify(sql)}, params: ${JSON.stringify(params)} },`,
  );
  return [
    NOTE,
    'import type { Protocol } from "../core/protocol.ts";',
    "",
    `/** The protocol's SQL for ${dialect === "sqlite" ? "SQLite, libSQL and D1" : "Postgres"}. */`,
    `export const ${dialect}: Protocol = {`,
    "  statements: {",
    ...compiled,
    "  },",
    ...renderMigrations("migrations", dialect),
    ...renderMigrations("optionalMigrations", join(dialect, "optional")),
    "};",
    "",
  ].join("\n");
}

function render(): ReadonlyMap<string, string> {
  const all = { sqlite: readStatements("sqlite"), postgres: readStatements("postgres") };
  checkTwins(all);
  return new Map([
    ["src/core/generated/statements.ts", renderTypes(all)],
    ...DIALECTS.map(
      (dialect) => [`src/protocol/${dialect}.ts`, renderDialect(dialect, all[dialect])] as const,
    ),
  ]);
}

for (const [file, text] of render()) {
  const path = join(ROOT, file);
  if (!process.argv.includes("--check")) writeFileSync(path, text);
  else if (readFileSync(path, "utf8") !== text) {
    console.error(`${file} is stale: run \`npm run build:protocol\` and commit the result`);
    process.exitCode = 1;
  }
}
