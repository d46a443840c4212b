import { InvalidArgument } from "../errors/errors.ts";
import { bind } from "../operations/statement.ts";
import type { Protocol } from "../protocol.ts";
import { type MigrateOptions, wantedMigrations } from "./migrate.ts";

/**
 * The migrations as text, for applying schema changes by hand: on an empty database they do what `migrate` does.
 *
 * @throws {InvalidArgument} if it gets no SQL of a dialect, or an unknown option.
 * @example
 * ```ts
 * import { migrationScript } from "wadi/migration-script";
 * import { postgres } from "wadi/protocol/postgres";
 *
 * console.log(migrationScript(postgres));
 * ```
 */
export function migrationScript(protocol: Protocol, options?: MigrateOptions): string {
  if (!Array.isArray(protocol?.migrations)) {
    throw new InvalidArgument(
      "migrationScript expects the SQL of a dialect, such as executor.protocol, or sqlite of wadi/protocol/sqlite",
    );
  }
  const record = bind({ protocol }, "insert_migrations", { names_json: "" }).sql;
  const statements = wantedMigrations(protocol, options, "migrationScript").flatMap(
    ({ name, statements }) => [...statements, record.replace(/\?|\$1(?=:)/, `'${JSON.stringify([name])}'`)],
  );
  return [...(protocol.setup ?? []), bind({ protocol }, "create_ledger", {}).sql, ...statements]
    .map((sql) => `${sql};\n`)
    .join("\n");
}
