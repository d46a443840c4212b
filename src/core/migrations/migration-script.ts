import { bind } from "../operations/statement.ts";
import type { Protocol } from "../protocol.ts";
import { type MigrateOptions, wantedMigrations } from "./migrate.ts";

/**
 * The statements that `migrate` would run on an empty database, for applying schema changes by hand.
 *
 * @example
 * ```ts
 * import { migrationScript } from "wadi/migration-script";
 * import { postgres } from "wadi/protocol/postgres";
 *
 * console.log(migrationScript(postgres));
 * ```
 */
export function migrationScript(protocol: Protocol, options?: MigrateOptions): string {
  const record = bind({ protocol }, "insert_migrations", { names_json: "" }).sql;
  const statements = wantedMigrations(protocol, options).flatMap(({ name, statements }) => [
    ...statements,
    record.replace(/\?|\$1(?=:)/, `'${JSON.stringify([name])}'`),
  ]);
  return [...(protocol.setup ?? []), bind({ protocol }, "create_ledger", {}).sql, ...statements]
    .map((sql) => `${sql};\n`)
    .join("\n");
}
