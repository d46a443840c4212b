// Starts real Postgres servers for tests, scripts and benchmarks, and creates databases on them.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { freePort } from "./free-port.ts";
import { type PostgresProgram, postgresProgram } from "./postgres-program.ts";

export interface PostgresServer {
  url: string;
  port: number;
  /** The URL of a fresh, empty database. */
  createDatabase(): Promise<string>;
  /** Stops the server, in order or by a `crash`, and starts it again after `awayMs` on its port and directory. */
  restart(how: "orderly" | "crash", awayMs?: number): Promise<void>;
  /** Starts a standby of it, which follows it until `select pg_promote()`. */
  standby(): Promise<Pick<PostgresServer, "url" | "port" | "stop">>;
  stop(): Promise<void>;
}

/** Starts a dedicated, real Postgres on a free port, in a directory that `stop()` removes. */
export async function startPostgres(): Promise<PostgresServer> {
  const program = await postgresProgram();
  await initialise(program);
  const server = await serve(program);
  return {
    ...server,
    createDatabase: () => createDatabase(server.url),
    standby: () => startStandby(server.url, program.data),
  };
}

/** A standby: a copy from an online backup, which receives all later changes from its primary. */
async function startStandby(
  primaryUrl: string,
  primaryData: string,
): Promise<Pick<PostgresServer, "url" | "port" | "stop">> {
  const program = await postgresProgram();
  const primary = new pg.Client(primaryUrl);
  await primary.connect();
  await primary.query("select pg_backup_start('standby', true)");
  // As the server's user, and without the files that only the running server needs.
  const copy =
    'cp -a "$1/." "$2" && rm -rf "$2/postmaster.pid" "$2/postmaster.opts" && ' +
    'touch "$2/standby.signal" "$2/backup_label" && ' +
    'chown --reference="$1" "$2" "$2/standby.signal" "$2/backup_label"';
  execFileSync("sh", ["-c", copy, "sh", primaryData, program.data]);
  const { rows } = await primary.query<{ labelfile: string }>("select labelfile from pg_backup_stop(false)");
  await primary.end();
  writeFileSync(join(program.data, "backup_label"), rows[0]!.labelfile); // whose owner stays
  const { username, password, hostname, port } = new URL(primaryUrl);
  return serve(program, {
    primary_conninfo: `host=${hostname} port=${port} user=${username} password=${password}`,
    wal_retrieve_retry_interval: "100ms",
  });
}

/** Starts the server of a data directory. */
async function serve(program: PostgresProgram, settings: Readonly<Record<string, string>> = {}) {
  const port = await freePort();
  endWithThisProcess(program.home);
  let server = await start(program, port, settings);
  const end = async (signal: "SIGINT" | "SIGQUIT") => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, "exit");
    server.kill(signal);
    await exited;
  };
  return {
    url: `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`,
    port,
    async restart(how: "orderly" | "crash", awayMs = 0) {
      await end(how === "crash" ? "SIGQUIT" : "SIGINT");
      await new Promise((resolve) => setTimeout(resolve, awayMs));
      server = await start(program, port, settings);
    },
    async stop() {
      await end("SIGINT");
      rmSync(program.home, { recursive: true, force: true });
    },
  };
}

const PASSWORD = "password";
/** Tests read its messages, so they must not be in the language of this machine. */
const ENV = { ...process.env, LC_ALL: "C", LC_MESSAGES: "C" };

async function initialise({ initdb, owner, home, data }: PostgresProgram): Promise<void> {
  const passwordFile = join(home, "password");
  writeFileSync(passwordFile, `${PASSWORD}\n`, { mode: 0o644 });
  const args = [`--pgdata=${data}`, "--username=postgres", "--auth=password", `--pwfile=${passwordFile}`];
  // The C locale is on every machine; the one in LANG may not be, and initdb would fail over it.
  args.push("--encoding=UTF8", "--locale=C", "--no-sync");
  const child = spawn(initdb, args, { ...owner, cwd: data, env: ENV });
  const log = logOf(child);
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`initdb of the test Postgres ended with ${code}\n${log()}`);
}

/** Resolves once the server accepts connections. */
async function start(
  { postgres, owner, data }: PostgresProgram,
  port: number,
  more: Readonly<Record<string, string>>,
): Promise<ChildProcess> {
  const settings = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    // Containers often have only 64 MB of /dev/shm, so it is not used.
    shared_buffers: "64MB",
    dynamic_shared_memory_type: "mmap",
    max_connections: "200",
    ...more,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const child = spawn(postgres, ["-D", data, "-p", String(port), ...flags], {
    ...owner,
    cwd: data,
    env: ENV,
  });
  const log = logOf(child);
  await new Promise<void>((resolve, reject) => {
    child.stderr!.on("data", () => {
      if (/ready to accept (read-only )?connections/.test(log())) resolve();
    });
    child.once("error", reject);
    child.once("close", (code) => reject(new Error(`the test Postgres ended with ${code}\n${log()}`)));
  });
  return child;
}

/** The last lines that the server prints. */
function logOf(child: ChildProcess): () => string {
  let log = "";
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.on("data", (text) => {
      log = (log + text).slice(-4_000);
    });
  }
  return () => log;
}

/** The Postgres of this test run. */
export function postgresUrl(): string {
  const url = process.env.WADI_TEST_POSTGRES_URL;
  if (url === undefined)
    throw new Error("WADI_TEST_POSTGRES_URL is not set; the vitest global setup sets it");
  return url;
}

/** Creates an empty database on the server of `serverUrl` and returns its URL. */
export async function createDatabase(serverUrl: string = postgresUrl()): Promise<string> {
  const name = `wadi_${crypto.randomUUID().replaceAll("-", "")}`;
  const client = new pg.Client(serverUrl);
  await client.connect();
  try {
    await client.query(`create database ${name} template template0`);
  } finally {
    await client.end();
  }
  const url = new URL(serverUrl);
  url.pathname = name;
  return url.href;
}

/** Starts a shell that reads the end of a pipe however this process dies, and then cleans up. */
function endWithThisProcess(directory: string): void {
  const script =
    'read _; pid=$(head -n 1 "$1/data/postmaster.pid") && kill -INT "$pid" && ' +
    'while kill -0 "$pid"; do sleep 0.1; done; rm -rf "$1"';
  const watchdog = spawn("sh", ["-c", script, "sh", directory], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  watchdog.unref();
  (watchdog.stdin as unknown as { unref(): void }).unref();
}
