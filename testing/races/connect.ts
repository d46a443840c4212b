import type { Executor } from "../../src/core/executor.ts";

/** A database that any process can open by itself. */
export interface Address {
  readonly target: "better-sqlite3-file" | "libsql-file" | "libsql-http" | "pg" | "neon-http";
  /** A path for better-sqlite3, else a URL. */
  readonly url: string;
}

export interface Connection {
  readonly executor: Executor;
  close(): Promise<void>;
}

/**
 * Opens one connection, on Postgres a pool of `max`. Only the client of this target is loaded, so that a process has
 * one SQLite library.
 */
export async function connect({ target, url }: Address, max = 2): Promise<Connection> {
  switch (target) {
    case "better-sqlite3-file": {
      const { default: Database } = await import("better-sqlite3");
      const { betterSqlite3 } = await import("../../src/drivers/better-sqlite3.ts");
      const db = new Database(url);
      return opened(betterSqlite3(db), () => db.close());
    }
    case "libsql-file":
    case "libsql-http": {
      const { createClient } = await import("@libsql/client");
      const { libsql } = await import("../../src/drivers/libsql.ts");
      const client = createClient({ url });
      return opened(libsql(client), () => client.close());
    }
    case "pg": {
      const { default: postgres } = await import("pg");
      const { pg } = await import("../../src/drivers/pg.ts");
      const pool = new postgres.Pool({ connectionString: url, max });
      return opened(pg(pool), () => pool.end());
    }
    case "neon-http": {
      const { neon } = await import("@neondatabase/serverless");
      const { neonHttp } = await import("../../src/drivers/neon.ts");
      const { routeNeonDriver } = await import("../neon-endpoint.ts");
      routeNeonDriver();
      return opened(neonHttp(neon(url)), () => {});
    }
  }
}

function opened(executor: Executor, close: () => unknown): Connection {
  return {
    executor,
    async close() {
      await executor.close();
      await close();
    },
  };
}
