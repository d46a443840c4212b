// A connection that ends while it is opened, or while it is lent.

import { spawnSync } from "node:child_process";
import { EventEmitter } from "node:events";
import { Client } from "pg";
import { expect, it } from "vitest";
import type { Executor } from "../../../src/driver.ts";
import { type PgClientLike, type PgPoolLike, pg } from "../../../src/drivers/pg.ts";

/** A server that is shut down while a connection is opened: one packet says that it is ready, and that it ends. */
const PROGRAM = `
  import { createServer } from "node:net";
  import { Pool } from "pg";
  import { pg } from "./src/drivers/pg.ts";
  const message = (type, ...parts) => {
    const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
    const head = Buffer.alloc(5);
    head.write(type);
    head.writeInt32BE(body.length + 4, 1);
    return Buffer.concat([head, body]);
  };
  const ready = [message("R", [0, 0, 0, 0]), message("Z", "I")];
  const fields = ["SFATAL\\0", "C57P01\\0", "Mterminating connection due to administrator command\\0", "\\0"];
  const ended = message("E", ...fields);
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end(Buffer.concat([...ready, ended])));
  });
  server.listen(0, "127.0.0.1", async () => {
    const pool = new Pool({ host: "127.0.0.1", port: server.address().port, user: "u", database: "d", max: 1 });
    const executor = pg(pool);
    for (let n = 0; n < 3; n++) {
      const kind = await executor.run({ sql: "select 1", params: [] }).then(() => "answered", executor.classify);
      console.log(kind);
    }
    server.close();
    await pool.end();
  });`;

it("a connection that ends in the packet that opens it fails its request, not the process", () => {
  const args = ["--input-type=module", "--eval", PROGRAM];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 20_000 });
  expect(stderr).not.toContain("Unhandled 'error' event");
  expect(stdout.trim().split("\n")).toHaveLength(3);
  expect(stdout).not.toMatch(/answered|unusable/);
  expect(status).toBe(0);
});

it("a lost client that a pool lends leaves the pool usable", async () => {
  const lost = new Client();
  // The state of a client whose server went away while it was idle.
  Object.assign(lost, { _queryable: false, release() {} });
  const lending: PgPoolLike = Object.assign(new EventEmitter(), {
    totalCount: 1,
    connect: async () => lost as unknown as Awaited<ReturnType<PgPoolLike["connect"]>>,
  });
  const pooled = pg(lending);
  const failed = (executor: Executor) =>
    executor.run({ sql: "select 1", params: [] }).then(() => "answered", executor.classify);
  expect(await failed(pooled)).toBe("unavailable");
  expect(await failed(pg(lost as unknown as PgClientLike))).toBe("unusable");
});
