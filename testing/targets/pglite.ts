// PGlite, Postgres compiled to WebAssembly, as a target of tests.

import { existsSync, mkdirSync, openAsBlob, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { type PgliteLike, pglite as pgliteDriver } from "../../src/drivers/pglite.ts";
import type { Meter, Target } from "../target.ts";

const ROOT = join(import.meta.dirname, "../..");

/** Instances that tests have closed; they are emptied and reused. */
const idle: PGlite[] = [];

/** An empty `PGlite`; closing it makes it available to the next test. */
export async function openPglite(): Promise<{ client: PGlite; close(): Promise<void> }> {
  const client = idle.pop() ?? (await start());
  await client.exec("drop schema if exists public cascade; create schema public");
  return {
    client,
    async close() {
      idle.push(client);
    },
  };
}

/** Creating an empty database is most of a start, so it is done once and kept in the repository's folder. */
async function start(): Promise<PGlite> {
  const manifest = join(ROOT, "node_modules/@electric-sql/pglite/package.json");
  const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };
  const template = join(ROOT, `.tmp/pglite-${version}.tar`);
  if (existsSync(template)) return PGlite.create({ loadDataDir: await openAsBlob(template) });
  const client = await PGlite.create();
  mkdirSync(join(ROOT, ".tmp"), { recursive: true });
  const draft = `${template}.${process.pid}`;
  writeFileSync(draft, await (await client.dumpDataDir("none")).bytes());
  renameSync(draft, template); // whole from the start, for those that look for it meanwhile
  return client;
}

/** Postgres in the process; a round trip is a call that reaches the client. */
export const pglite: Target = {
  name: "pglite",
  dialect: "postgres",
  async open() {
    const { client, close } = await openPglite();
    const meter: Meter = { roundTrips: 0, statements: 0, rowsRead: null, rowsWritten: null };
    const connect = async () => pgliteDriver(metered(client, meter));
    return { executor: await connect(), connect, meter: () => ({ ...meter }), close };
  },
};

function metered(client: PGlite, meter: Meter): PgliteLike {
  return {
    get closed() {
      return client.closed;
    },
    waitReady: client.waitReady,
    query(text, params, options) {
      meter.roundTrips++;
      meter.statements++;
      return client.query(text, params, options);
    },
    transaction(work) {
      meter.roundTrips++;
      return client.transaction((tx) =>
        work({
          closed: false,
          query(text, params, options) {
            meter.statements++;
            return tx.query(text, params, options);
          },
          rollback: () => tx.rollback(),
        }),
      );
    },
    listen: (channel, onPayload) => client.listen(channel, onPayload),
  };
}
