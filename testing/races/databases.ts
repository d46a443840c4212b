// Opens the databases on which several connections, processes or requests race.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { d1 } from "../../src/drivers/d1.ts";
import { Wadi, type WadiOptions } from "../../src/index.ts";
import { startHranaServer } from "../hrana-server.ts";
import { startNeonEndpoint } from "../neon-endpoint.ts";
import { createDatabase } from "../postgres.ts";
import { type Address, type Connection, connect } from "./connect.ts";
import { startD1 } from "./d1-runtime.ts";
import type { Racer } from "./jobs.ts";
import type { RacerProcesses } from "./racer-processes.ts";

export type RaceTarget = Address["target"] | "d1";

/** Every database that takes several connections at once. */
export const RACE_TARGETS: readonly RaceTarget[] = [
  "better-sqlite3-file",
  "pg",
  "d1",
  "libsql-file",
  "libsql-http",
  "neon-http",
];

/** A fresh, empty database that several connections use at once. */
export interface RaceDatabase {
  /** Where other processes find it; D1 is behind a binding. */
  readonly address: Address | undefined;
  /** A client of this process. */
  connect(options?: WadiOptions): Promise<Wadi>;
  /** Racers with an open connection each: processes, or requests inside workerd. */
  racers(count: number, processes: RacerProcesses): Promise<Racer[]>;
  close(): Promise<void>;
}

export async function openDatabase(target: RaceTarget): Promise<RaceDatabase> {
  if (target === "d1") {
    const { binding, racer, stop } = await startD1();
    const open = async () => ({ executor: d1(binding), close: async () => {} });
    return database(undefined, open, async (count) => Array.from({ length: count }, racer), stop);
  }
  const { url, stop } = await start(target);
  return addressed({ target, url }, stop);
}

/** A database that every process finds by its address. */
export function addressed(address: Address, stop: () => unknown): RaceDatabase {
  return database(
    address,
    () => connect(address),
    (count, processes) => processes.open(count, address),
    stop,
  );
}

async function start(target: Address["target"]): Promise<{ url: string; stop: () => unknown }> {
  switch (target) {
    case "better-sqlite3-file":
    case "libsql-file": {
      const directory = mkdtempSync(join(tmpdir(), "wadi-race-"));
      const path = join(directory, "data.db");
      const stop = () => rmSync(directory, { recursive: true, force: true });
      return { url: target === "libsql-file" ? `file:${path}` : path, stop };
    }
    case "pg":
      return { url: await createDatabase(), stop: () => {} };
    case "libsql-http":
      return startHranaServer();
    case "neon-http": {
      const { connectionString, stop } = await startNeonEndpoint({ postgresUrl: await createDatabase() });
      return { url: connectionString, stop };
    }
  }
}

function database(
  address: Address | undefined,
  open: () => Promise<Connection>,
  racers: RaceDatabase["racers"],
  stop: () => unknown,
): RaceDatabase {
  const connections: Connection[] = [];
  return {
    address,
    async connect(options) {
      const connection = await open();
      connections.push(connection);
      return new Wadi(connection.executor, options);
    },
    racers,
    async close() {
      for (const connection of connections) await connection.close();
      await stop();
    },
  };
}
