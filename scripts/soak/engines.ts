import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startPostgres } from "../../testing/postgres.ts";
import type { Address } from "../../testing/races/connect.ts";

/** Most pages the file may have from now on. SQLite takes a number below the present size as the present size. */
export interface DiskOrder {
  readonly maxPages: number;
}

/** A database into which faults are injected. */
export interface SoakEngine {
  readonly name: string;
  readonly address: Address;
  /** The kind of its faults, for the report. */
  readonly faultKind: "restarts" | "diskFull";
  /**
   * Injects one fault, and resolves when it is over. `sendAll` reaches every process that uses the database; `isHit` is
   * true once one of them has met the fault.
   */
  injectFault(sendAll: (order: DiskOrder) => void, isHit: () => boolean): Promise<void>;
  close(): Promise<void>;
}

export const ENGINES = ["postgres", "better-sqlite3", "libsql"] as const;
export type EngineName = (typeof ENGINES)[number];

export function openEngine(name: EngineName): Promise<SoakEngine> {
  return name === "postgres" ? postgres() : sqlite(name);
}

/** A server that is restarted, alternately by an orderly shutdown and by a crash. */
async function postgres(): Promise<SoakEngine> {
  const server = await startPostgres();
  let restarts = 0;
  return {
    name: "postgres",
    address: { target: "pg", url: await server.createDatabase() },
    faultKind: "restarts",
    injectFault: () => server.restart(restarts++ % 2 === 0 ? "orderly" : "crash"),
    close: () => server.stop(),
  };
}

const DISK_MB = 192;
/** A disk stays full for this long, and longer until a process has met it. */
const FULL_MS = 4000;
const LONGEST_FULL_MS = 20_000;

function isOn(startMs: number, isHit: () => boolean): boolean {
  const ms = Date.now() - startMs;
  return ms < FULL_MS || (ms < LONGEST_FULL_MS && !isHit());
}

const ATTEMPT = `
  const Database = require("better-sqlite3");
  const [path, sql] = process.argv.slice(1);
  try { new Database(path, { timeout: 1000 }).exec(sql); } catch {}
`;

/**
 * A file on a small disk that a second file fills. Only root may mount such a disk; for other users each process limits
 * the size of the database through its connection.
 */
async function sqlite(name: "better-sqlite3" | "libsql"): Promise<SoakEngine> {
  const disk = mkdtempSync(join(tmpdir(), "wadi-soak-"));
  const isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${DISK_MB}m`, "tmpfs", disk]).status === 0;
  const path = join(disk, "data.db");
  const ballast = join(disk, "ballast");

  /** Runs a statement in a separate process; a locked file or a full disk is ignored. */
  async function attempt(sql: string): Promise<void> {
    // In another process: closing a file ends the locks that another SQLite library of this process holds on it.
    await once(spawn(process.execPath, ["-e", ATTEMPT, path, sql], { stdio: "ignore" }), "exit");
  }

  async function fillDisk(isHit: () => boolean): Promise<void> {
    const startMs = Date.now();
    // Repeated, because room is freed meanwhile; the checkpoint also frees the log, which would be reused.
    while (isOn(startMs, isHit)) {
      fill(ballast);
      await attempt("pragma wal_checkpoint(truncate)");
      fill(ballast);
      await sleep(50);
    }
    rmSync(ballast);
  }

  return {
    name,
    address:
      name === "libsql"
        ? { target: "libsql-file", url: `file:${path}` }
        : { target: "better-sqlite3-file", url: path },
    faultKind: "diskFull",
    async injectFault(sendAll, isHit) {
      if (isMounted) return fillDisk(isHit);
      await attempt("vacuum"); // freed pages would be reused
      sendAll({ maxPages: 1 });
      for (const startMs = Date.now(); isOn(startMs, isHit); ) await sleep(50);
      sendAll({ maxPages: 2 ** 32 - 2 });
    },
    async close() {
      if (isMounted) spawnSync("umount", ["-l", disk]);
      rmSync(disk, { recursive: true, force: true });
    },
  };
}

/** Appends to a file until its disk is full. */
function fill(path: string): void {
  const file = openSync(path, "a");
  try {
    for (let bytes = 1 << 20; bytes >= 512; ) {
      try {
        if (writeSync(file, Buffer.alloc(bytes)) < bytes) bytes /= 2;
      } catch {
        bytes /= 2;
      }
    }
  } finally {
    closeSync(file);
  }
}
