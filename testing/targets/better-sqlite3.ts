// better-sqlite3 on a file and in memory, as targets of tests.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { Executor } from "../../src/core/executor.ts";
import { betterSqlite3 } from "../../src/drivers/better-sqlite3.ts";
import type { Meter, OpenTarget, Target } from "../target.ts";

export const betterSqlite3File: Target = {
  name: "better-sqlite3-file",
  dialect: "sqlite",
  async open() {
    const directory = mkdtempSync(join(tmpdir(), "wadi-sqlite-"));
    const handles: Database.Database[] = [];
    const connect = () => {
      const db = new Database(join(directory, "data.db"));
      handles.push(db);
      return betterSqlite3(db, { synchronous: "normal" });
    };
    return opened(connect(), connect, () => {
      for (const db of handles) db.close();
      rmSync(directory, { recursive: true, force: true });
    });
  },
};

export const betterSqlite3Memory: Target = {
  name: "better-sqlite3-memory",
  dialect: "sqlite",
  async open() {
    const db = new Database(":memory:");
    const connect = () => betterSqlite3(db);
    return opened(connect(), connect, () => db.close());
  },
};

function opened(executor: Executor, connect: () => Executor, close: () => void): OpenTarget {
  const meter: Meter = { roundTrips: 0, statements: 0, rowsRead: null, rowsWritten: null };
  return {
    executor: metered(executor, meter),
    connect: async () => metered(connect(), meter),
    meter: () => ({ ...meter }),
    async close() {
      await executor.close();
      close();
    },
  };
}

/** The engine is in the process, so a round trip is a call that reaches the driver. */
function metered(executor: Executor, meter: Meter): Executor {
  return {
    ...executor,
    run(statement) {
      meter.roundTrips++;
      meter.statements++;
      return executor.run(statement);
    },
    batch(statements) {
      if (statements.length > 0) meter.roundTrips++;
      meter.statements += statements.length;
      return executor.batch(statements);
    },
  };
}
