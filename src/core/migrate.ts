import { onlyKnown } from "./arguments.ts";
import { sleep } from "./backoff.ts";
import type { Executor, Row, Statement } from "./executor.ts";
import { type Migration, migrations, optionalMigrations } from "./generated/protocol.ts";
import { explainVersion } from "./version.ts";

/** Rounds of reading what is applied and applying the next. Each round either advances or lost a race. */
const MAX_ROUNDS = 50;

const LEDGER = {
  sqlite:
    "create table if not exists wadi_migrations (name text primary key not null, applied_at_ms integer not null) without rowid",
  postgres:
    "create table if not exists wadi_migrations (name text primary key, applied_at_ms bigint not null)",
};

// DDL races on Postgres end in catalog errors; whoever waits here reads a ledger that is up to date.
const LOCK = "select pg_advisory_xact_lock(hashtextextended('wadi_migrations', 0))";

const RECORD = {
  sqlite:
    "insert into wadi_migrations (name, applied_at_ms) values (?, cast(round(unixepoch('subsec') * 1000) as integer))",
  postgres:
    "insert into wadi_migrations (name, applied_at_ms) values ($1::text, (extract(epoch from clock_timestamp()) * 1000)::bigint)",
};

const plain = (sql: string): Statement => ({ sql, params: [] });

export interface MigrateOptions {
  /**
   * Adds the index that other CairnQ SDKs claim by, for workers of theirs on the same tables. It stays, and
   * costs one more row written for each task that is queued. @default false
   */
  readonly mixedFleet?: boolean | undefined;
}

/**
 * Brings a database up to date: creates the tables, or adopts those that another SDK created.
 *
 * Each migration is one batch whose first statement records it, so that of several processes that start
 * at once only one applies it. Safe to call at any time, from any number of processes.
 *
 * @throws {ProtocolVersionMismatch} if the database speaks another protocol version; nothing is written.
 */
export async function migrate(executor: Executor, options?: MigrateOptions): Promise<void> {
  const wanted = wantedMigrations(executor.dialect, options);
  for (let round = 1; ; round++) {
    const next = await nextMigration(executor, wanted);
    if (next === undefined) return;
    try {
      await executor.batch(migrationBatch(executor.dialect, next));
    } catch (error) {
      // Another process may have applied it first: look again before giving up.
      if (round >= MAX_ROUNDS || !(await wasLost(executor, next, error))) throw error;
    }
  }
}

/** The statements `migrate` would run on an empty database, for those who apply schema changes by hand. */
export function migrationScript(dialect: Executor["dialect"], options?: MigrateOptions): string {
  const statements = wantedMigrations(dialect, options).flatMap(({ name, statements }) => [
    ...statements,
    RECORD[dialect].replace(/\?|\$1(?=:)/, `'${name}'`),
  ]);
  return [LEDGER[dialect], ...statements].map((sql) => `${sql};\n`).join("\n");
}

function wantedMigrations(dialect: Executor["dialect"], options: MigrateOptions = {}): readonly Migration[] {
  onlyKnown("migrate", options, ["mixedFleet"]);
  return options.mixedFleet ? [...migrations[dialect], ...optionalMigrations[dialect]] : migrations[dialect];
}

function migrationBatch(dialect: Executor["dialect"], migration: Migration): Statement[] {
  const lock = dialect === "postgres" ? [plain(LOCK)] : [];
  const ledger = [plain(LEDGER[dialect]), { sql: RECORD[dialect], params: [migration.name] }];
  return [...lock, ...ledger, ...migration.statements.map(plain)];
}

async function nextMigration(
  executor: Executor,
  wanted: readonly Migration[],
): Promise<Migration | undefined> {
  const applied = new Set(
    (await readOrEmpty(executor, "select name from wadi_migrations")).map((row) => row.name),
  );
  if (applied.size === 0) {
    const meta = await readOrEmpty(executor, "select value from cairnq_meta where key = 'protocol_version'");
    if (meta.length > 0) await explainVersion(executor);
  }
  return wanted.find(({ name }) => !applied.has(name));
}

async function readOrEmpty(executor: Executor, sql: string): Promise<Row[]> {
  try {
    return await executor.run(plain(sql));
  } catch (error) {
    if (executor.classify(error) === "missing-schema") return [];
    throw error;
  }
}

/** True if the failed migration is in the ledger now, or the failure was one that passes. */
async function wasLost(executor: Executor, migration: Migration, error: unknown): Promise<boolean> {
  const kind = executor.classify(error);
  if (kind === "busy" || kind === "unavailable" || kind === "unknown") {
    await sleep(50 + Math.random() * 100);
    return true;
  }
  const applied = await readOrEmpty(executor, "select name from wadi_migrations");
  return applied.some((row) => row.name === migration.name);
}
