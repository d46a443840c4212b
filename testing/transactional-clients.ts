import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@libsql/client";
import { neon } from "@neondatabase/serverless";
import type { Executor } from "../src/core/executor.ts";
import { d1 } from "../src/drivers/d1.ts";
import { libsql } from "../src/drivers/libsql.ts";
import { neonHttp } from "../src/drivers/neon.ts";
import { openD1 } from "./d1.ts";
import { startHranaServer } from "./hrana-server.ts";
import { startNeonEndpoint } from "./neon-endpoint.ts";
import { createDatabase } from "./postgres.ts";

/** A client that takes batches of native statements, as an application holds it. */
export interface NativeClient {
  readonly executor: Executor;
  /** A native statement of the client: a row for `ledger(id)`. */
  insert(id: string): object;
  /** A native batch of the client. */
  batch(statements: readonly unknown[]): Promise<unknown[]>;
  /** Requests so far, where they can be counted. */
  requests(): number | null;
  close(): Promise<void>;
}

export const nativeClients: Record<string, () => Promise<NativeClient>> = {
  async d1() {
    const { binding, meter, close } = await openD1();
    return {
      executor: d1(binding),
      insert: (id) => binding.prepare("insert into ledger (id) values (?)").bind(id),
      batch: (statements) => binding.batch([...statements] as never),
      requests: () => meter().roundTrips,
      close: async () => close(),
    };
  },

  async "libsql-file"() {
    const directory = mkdtempSync(join(tmpdir(), "wadi-own-"));
    const client = createClient({ url: `file:${join(directory, "data.db")}` });
    return {
      executor: libsql(client),
      insert: (id) => ({ sql: "insert into ledger (id) values (?)", args: [id] }),
      batch: (statements) => client.batch([...statements] as never, "write"),
      requests: () => null,
      async close() {
        client.close();
        rmSync(directory, { recursive: true, force: true });
      },
    };
  },

  async "libsql-http"() {
    const server = await startHranaServer();
    const client = createClient({ url: server.url });
    return {
      executor: libsql(client),
      insert: (id) => ({ sql: "insert into ledger (id) values (?)", args: [id] }),
      batch: (statements) => client.batch([...statements] as never, "write"),
      requests: () => server.requests,
      async close() {
        client.close();
        await server.stop();
      },
    };
  },

  async "neon-http"() {
    const endpoint = await startNeonEndpoint({ postgresUrl: await createDatabase() });
    const sql = neon(endpoint.connectionString);
    return {
      executor: neonHttp(sql),
      insert: (id) => sql`insert into ledger (id) values (${id})`,
      batch: (statements) => sql.transaction([...statements] as never),
      requests: () => endpoint.requests,
      close: endpoint.stop,
    };
  },
};
