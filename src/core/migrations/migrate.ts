/** Applies the migrations of the protocol, safely from any number of processes. */

import { SchemaMismatch, Unsupported } from "../errors/errors.ts";
import type { Executor, Statement } from "../executor.ts";
import { failedFence } from "../operations/fence.ts";
import { bind } from "../operations/statement.ts";
import type { Migration, Protocol } from "../protocol.ts";
import { sleep } from "../timers.ts";
import { onlyKnown } from "../validate.ts";
import { explainVersion } from "./protocol-version.ts";

/** After this many failures of one migration another process is no longer the likely reason. */
const MAX_FAILURES = 5;

/** Work of `migrate` in addition to creating or updating the tables. */
export interface MigrateOptions {
  /**
   * Adds the indexes by which workers of other CairnQ SDKs on the same tables claim, purge and list. They are
   * permanent, and cost 12 more index entries for each task, from its submit to its success.
   * @default false
   */
  readonly mixedFleet?: boolean | undefined;
  /**
   * Creates a second set of tables although another schema of this Postgres database has them already. @default false
   */
  readonly secondInstallation?: boolean | undefined;
}

/**
 * Brings a database up to date: creates the tables, or adopts those that another SDK created.
 *
 * Each migration is one batch whose first statements record it, so that only one of several processes that start
 * together applies it. On an empty SQLite database the baseline takes their place, in one batch, because platforms
 * count statements: it creates the tables as all migrations would leave them.
 * Safe to call at any time, from any number of processes.
 *
 * @throws {ProtocolVersionMismatch} if the database speaks another protocol version; nothing is written.
 * @throws {SchemaMismatch} if it would create the tables and another schema has them; nothing is written.
 * @throws {Unsupported} on an SQLite before 3.42; nothing is written.
 */
export async function migrate(executor: Executor, options?: MigrateOptions): Promise<void> {
  const wanted = wantedMigrations(executor.protocol, options);
  for (let failures = 0, known = 0, hasLedger = false; ; ) {
    const applied = await appliedMigrations(executor);
    if (applied.size > known) failures = 0; // it made progress, by this process or another
    known = applied.size;
    let isEmpty = false;
    if (applied.size === 0) {
      const hasVersion = explainVersion(executor).then(() => true);
      isEmpty = !(await unlessMissing(executor, hasVersion, false));
      if (!options?.secondInstallation) await refuseOtherSchemas(executor);
    }
    const missing = wanted.filter(({ name }) => !applied.has(name));
    const isAtOnce = (isEmpty && executor.dialect === "sqlite") || missing.length === 1;
    const next = isAtOnce ? missing : missing.slice(0, 1);
    if (next.length === 0) return;
    try {
      if (!hasLedger) await createReferenceLedger(executor);
      hasLedger = true;
      // Once it has failed, the database may hold something after all: the migrations take what they find.
      const isBaseline = isEmpty && failures === 0;
      await executor.batch(
        migrationBatch(executor, next, isBaseline ? executor.protocol.baseline : undefined),
      );
      if (isAtOnce) return;
    } catch (error) {
      if (isTooOld(executor, error)) throw tooOld(error);
      // Another process may have applied it first: read the ledger again before giving up.
      if (++failures === MAX_FAILURES) throw error;
      await sleep(100 * Math.random());
    }
  }
}

/** `unixepoch` came with SQLite 3.38, and its fractions of a second with 3.42. */
function isTooOld(executor: Executor, error: unknown): boolean {
  if (executor.dialect !== "sqlite") return false;
  return failedFence(error) === "sqlite_before_3_42" || /no such function: unixepoch/.test(String(error));
}

function tooOld(cause: unknown): Unsupported {
  return new Unsupported(
    "Wadi needs SQLite 3.42 or later; upgrade the engine of this database, or the client that bundles it",
    { cause },
  );
}

const MIGRATE_OPTIONS = Object.keys({
  mixedFleet: true,
  secondInstallation: true,
} satisfies Record<keyof MigrateOptions, true>);

/** The migrations that a database must have under these options. @throws {InvalidArgument} for an unknown option. */
export function wantedMigrations(
  protocol: Protocol,
  options: MigrateOptions = {},
  method = "migrate",
): readonly Migration[] {
  onlyKnown(method, options, MIGRATE_OPTIONS);
  return options.mixedFleet ? [...protocol.migrations, ...protocol.optionalMigrations] : protocol.migrations;
}

/** Records and applies the migrations, the required ones by the baseline if it is given. */
function migrationBatch(
  executor: Executor,
  migrations: readonly Migration[],
  baseline?: readonly string[],
): Statement[] {
  const covered = baseline === undefined ? [] : executor.protocol.migrations;
  const rest = migrations.filter((migration) => !covered.includes(migration));
  return [
    ...(executor.dialect === "postgres" ? lockMigrations(executor) : []),
    bind(executor, "create_ledger", {}),
    bind(executor, "insert_migrations", { names_json: JSON.stringify(migrations.map(({ name }) => name)) }),
    ...(baseline ?? []).map(plain),
    ...rest.flatMap(({ statements }) => statements.map(plain)),
  ];
}

/** Takes the lock of Wadi's migrations, then that of the reference SDKs' migrations. */
function lockMigrations(executor: Executor): Statement[] {
  return [bind(executor, "lock_migrations", {}), bind(executor, "lock_reference_ledger", {})];
}

/** The table that the migrators of the reference SDKs lock must exist, and be committed, before the first migration. */
async function createReferenceLedger(executor: Executor): Promise<void> {
  if (executor.dialect !== "postgres") return;
  await executor.batch([
    ...(executor.protocol.setup ?? []).map(plain),
    bind(executor, "create_reference_ledger", {}),
  ]);
}

function plain(sql: string): Statement {
  return { sql, params: [] };
}

/** A client that looks into the wrong schema must not continue with new, empty tables there. */
async function refuseOtherSchemas(executor: Executor): Promise<void> {
  if (executor.dialect !== "postgres") return;
  const { schema } = executor.protocol;
  const rows = await executor.run(bind(executor, "select_other_schemas", { schema: schema ?? null }));
  if (rows.length > 0)
    throw new SchemaMismatch(
      rows.map((row) => String(row.schema)),
      schema,
    );
}

async function appliedMigrations(executor: Executor): Promise<Set<unknown>> {
  const rows = await unlessMissing(executor, executor.run(bind(executor, "select_migrations", {})), []);
  return new Set(rows.map((row) => row.name));
}

/** The answer, or `otherwise` while the tables do not exist. */
function unlessMissing<T>(executor: Executor, answer: Promise<T>, otherwise: T): Promise<T> {
  return answer.catch((error: unknown) => {
    if (executor.classify(error) === "missing-schema") return otherwise;
    throw error;
  });
}
