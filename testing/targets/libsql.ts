// libSQL's client on a file and over HTTP, as targets of tests.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient } from "@libsql/client";
import { type LibsqlClientLike, libsql } from "../../src/drivers/libsql.ts";
import { startHranaServer } from "../hrana-server.ts";
import type { Meter, Target } from "../target.ts";

export const libsqlFile: Target = {
  name: "libsql-file",
  dialect: "sqlite",
  async open() {
    const directory = mkdtempSync(join(tmpdir(), "wadi-libsql-"));
    const meter: Meter = { roundTrips: 0, statements: 0, rowsRead: null, rowsWritten: null };
    const clients: Client[] = [];
    const connect = () => {
      const client = createClient({ url: `file:${join(directory, "data.db")}` });
      clients.push(client);
      return libsql(metered(client, meter));
    };
    return {
      executor: connect(),
      connect: async () => connect(),
      meter: () => ({ ...meter }),
      async close() {
        for (const client of clients) client.close();
        rmSync(directory, { recursive: true, force: true });
      },
    };
  },
};

export const libsqlHttp: Target = {
  name: "libsql-http",
  dialect: "sqlite",
  async open() {
    const server = await startHranaServer();
    const clients: Client[] = [];
    const connect = () => {
      const client = createClient({ url: server.url });
      clients.push(client);
      return libsql(client);
    };
    return {
      executor: connect(),
      connect: async () => connect(),
      meter: () => ({
        roundTrips: server.requests,
        statements: server.statements,
        rowsRead: null,
        rowsWritten: null,
      }),
      async close() {
        for (const client of clients) client.close();
        await server.stop();
      },
    };
  },
};

function metered(client: LibsqlClientLike, meter: Meter): LibsqlClientLike {
  return {
    protocol: client.protocol,
    execute(statement) {
      if (!statement.sql.startsWith("pragma")) {
        meter.roundTrips++;
        meter.statements++;
      }
      return client.execute(statement);
    },
    batch(statements, mode) {
      meter.roundTrips++;
      meter.statements += statements.length;
      return client.batch(statements, mode);
    },
    executeMultiple: (sql) => client.executeMultiple(sql),
    reconnect: () => client.reconnect(),
  };
}
