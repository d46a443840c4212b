// Applies each migration to a database with many tasks, and prints how long it took and kept a writer waiting.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import Database from "better-sqlite3";
import { Client } from "pg";
import { postgres } from "../src/protocol/postgres.ts";
import { sqlite } from "../src/protocol/sqlite.ts";
import { createDatabase, startPostgres } from "../testing/postgres.ts";

/** Migrations of the first release: a database of it has them. */
const FIRST = "0009";
/** Pause between two writes of the writer that a migration may block. */
const WRITE_EVERY_MS = 5;

interface Measured {
  readonly migration: string;
  readonly ms: number;
  /** Longest time that one write of another connection took meanwhile. */
  readonly longestWriteMs: number;
}

const TASK = "'a', 'default', 'queued', '{\"n\":1}', 1, 1, 1";
const COLUMNS = "id, name, queue, status, payload, run_at_ms, created_at_ms, updated_at_ms";

/** SQLite has one writer: for others the database is locked while a migration runs. */
function onSqlite(tasks: number): Measured[] {
  const folder = mkdtempSync(join(tmpdir(), "wadi-migrations-"));
  const db = new Database(join(folder, "tasks.db"));
  try {
    db.pragma("journal_mode = wal");
    const measured: Measured[] = [];
    for (const { name, statements } of sqlite.migrations) {
      if (name.startsWith(FIRST)) {
        db.exec(
          `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${tasks})
          insert into cairnq_tasks (${COLUMNS}) select printf('task_%09d', i), ${TASK} from n`,
        );
      }
      const from = performance.now();
      db.exec(`begin immediate; ${statements.join(";\n")}; commit`);
      const ms = performance.now() - from;
      if (name >= FIRST) measured.push({ migration: name, ms, longestWriteMs: ms });
    }
    return measured;
  } finally {
    db.close();
    rmSync(folder, { recursive: true });
  }
}

async function onPostgres(tasks: number): Promise<Measured[]> {
  const server = await startPostgres();
  const url = await createDatabase(server.url);
  const client = new Client(url);
  const writer = new Client(url);
  try {
    await client.connect();
    await writer.connect();
    const measured: Measured[] = [];
    for (const { name, statements } of postgres.migrations) {
      if (name.startsWith(FIRST)) {
        await client.query(
          `insert into cairnq_tasks (${COLUMNS})
          select 'task_' || lpad(i::text, 9, '0'), ${TASK} from generate_series(1, ${tasks}) i`,
        );
        await client.query("analyze");
      }
      if (name < FIRST) {
        for (const statement of statements) await client.query(statement);
        continue;
      }
      measured.push(
        await whileWriting(writer, name, async () => {
          await client.query("begin");
          for (const statement of statements) await client.query(statement);
          await client.query("commit");
        }),
      );
    }
    return measured;
  } finally {
    await client.end();
    await writer.end();
    await server.stop();
  }
}

async function whileWriting(
  writer: Client,
  migration: string,
  migrate: () => Promise<void>,
): Promise<Measured> {
  let isOver = false;
  let longestWriteMs = 0;
  const writing = (async () => {
    while (!isOver) {
      const from = performance.now();
      await writer.query(
        `update cairnq_tasks set updated_at_ms = updated_at_ms + 1 where id = 'task_000000001'`,
      );
      longestWriteMs = Math.max(longestWriteMs, performance.now() - from);
      await new Promise((resolve) => setTimeout(resolve, WRITE_EVERY_MS));
    }
  })();
  const from = performance.now();
  await migrate();
  const ms = performance.now() - from;
  isOver = true;
  await writing;
  return { migration, ms, longestWriteMs };
}

const { values } = parseArgs({
  options: {
    tasks: { type: "string", default: "1000000" },
    engine: { type: "string" },
    help: { type: "boolean" },
  },
});
if (values.help) {
  console.log("npm run bench:migrations -- [--tasks 1000000] [--engine sqlite|postgres]");
} else {
  const tasks = Number(values.tasks);
  for (const [engine, measure] of [
    ["sqlite", onSqlite],
    ["postgres", onPostgres],
  ] as const) {
    if (values.engine !== undefined && values.engine !== engine) continue;
    console.log(
      `${engine}, ${tasks} queued tasks: milliseconds of the migration, and of the longest write meanwhile`,
    );
    for (const { migration, ms, longestWriteMs } of await measure(tasks)) {
      console.log(
        `${migration.padEnd(24)} ${ms.toFixed(0).padStart(8)} ${longestWriteMs.toFixed(0).padStart(8)}`,
      );
    }
  }
}
