// Compiles protocol/ into src/protocol/ and its types into src/core/generated/, because an edge runtime has no file
// system. `--check` writes nothing and fails if a checked-in module is stale.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Migration } from "../src/core/protocol.ts";
import { readOptions } from "./options.ts";
import { baselineOf } from "./protocol/baseline.ts";
import { type Protocol, renderPostgres, renderSqlite, renderTypes } from "./protocol/render.ts";
import { splitStatements } from "./protocol/sql-text.ts";
import { checkTwins, type Dialect, readStatements } from "./protocol/statements.ts";

const ROOT = join(import.meta.dirname, "..");

function readMigrations(folder: string): Migration[] {
  const files = readdirSync(folder).filter((file) => file.endsWith(".sql"));
  return files.sort().map((name) => ({
    name,
    statements: splitStatements(readFileSync(join(folder, name), "utf8")),
  }));
}

function readProtocol(dialect: Dialect): Protocol {
  const folder = join(ROOT, "protocol/migrations", dialect);
  const migrations = readMigrations(folder);
  return {
    statements: readStatements(dialect, join(ROOT, "protocol/statements", dialect)),
    migrations,
    optionalMigrations: readMigrations(join(folder, "optional")),
    baseline: dialect === "sqlite" ? baselineOf(migrations) : undefined,
  };
}

function render(): Record<string, string> {
  const all = { sqlite: readProtocol("sqlite"), postgres: readProtocol("postgres") };
  checkTwins({ sqlite: all.sqlite.statements, postgres: all.postgres.statements });
  return {
    "src/core/generated/statements.ts": renderTypes(all),
    "src/protocol/sqlite.ts": renderSqlite(all.sqlite),
    "src/protocol/postgres.ts": renderPostgres(all.postgres),
  };
}

const { check } = readOptions("build:protocol", {
  check: { about: "write nothing, and fail if a compiled module is stale" },
});
for (const [file, text] of Object.entries(render())) {
  const path = join(ROOT, file);
  if (!check) writeFileSync(path, text);
  else if (readFileSync(path, "utf8") !== text) {
    console.error(`${file} is stale: run \`npm run build:protocol\` and commit the result`);
    process.exitCode = 1;
  }
}
