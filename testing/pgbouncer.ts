// Starts PgBouncer in transaction mode in front of a Postgres server.

import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { Client } from "pg";
import { freePort } from "./free-port.ts";
import { until } from "./until.ts";

export interface PgBouncer {
  /** The URL of a database of the server behind it. */
  through(databaseUrl: string): string;
  stop(): Promise<void>;
}

/** Server connections for each database: fewer than the clients of any test, so that they have to share. */
export const SERVER_CONNECTIONS = 3;

/** Debian installs it in a folder that only root's PATH has. */
export const program = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"]
  .map((folder) => join(folder, "pgbouncer"))
  .find(existsSync);

/** Starts PgBouncer in transaction mode in front of the Postgres of `serverUrl`. It ends with this process. */
export async function startPgBouncer(serverUrl: string): Promise<PgBouncer> {
  const server = new URL(serverUrl);
  const folder = mkdtempSync(join(tmpdir(), "wadi-pgbouncer-"));
  const port = await freePort();
  const users = join(folder, "users.txt");
  const config = join(folder, "pgbouncer.ini");
  writeFileSync(users, `"${server.username}" "${server.password}"\n`);
  writeFileSync(
    config,
    `[databases]
* = host=${server.hostname} port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = transaction
default_pool_size = ${SERVER_CONNECTIONS}
max_client_conn = 200
`,
  );
  chmodSync(folder, 0o755);
  // PgBouncer refuses to run as root. The shell reads the end of a pipe however this process dies, and stops it.
  const unprivileged = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const child = spawn("sh", ["-c", '"$1" "$2" 2>&1 & read _; kill $!; wait', "sh", program!, config], {
    stdio: ["pipe", "pipe", "ignore"],
    cwd: folder, // this process's own may be one that it must not enter
    ...unprivileged,
  });
  let log = "";
  child.stdout.on("data", (data) => {
    log = (log + data).slice(-4_000);
  });
  const through = (databaseUrl: string) => {
    const url = new URL(databaseUrl);
    url.hostname = "127.0.0.1";
    url.port = String(port);
    return url.href;
  };
  async function stop(): Promise<void> {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.stdin.end();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
  try {
    await until(() => answers(through(serverUrl)));
  } catch (cause) {
    await stop();
    throw new Error(`PgBouncer did not start:\n${log}`, { cause });
  }
  return { through, stop };
}

async function answers(url: string): Promise<boolean> {
  const client = new Client(url);
  try {
    await client.connect();
    await client.query("select 1");
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
