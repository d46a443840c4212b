import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startPostgres } from "../../testing/postgres.ts";
import type { Address } from "../../testing/races/connect.ts";

/** Most pages the file may have from now on; SQLite takes fewer than it has for as many as it has. */
export interface DiskOrder {
  readonly maxPages: number;
}

/** A database that something befalls now and then. */
export interface SoakEngine {
  readonly name: string;
  readonly address: Address;
  /** What befalls it: a word for the report. */
  readonly mishap: "restarts" | "diskFull";
  /**
   * Lets it happen, and resolves when it is over. `tellAll` reaches every process that uses the database, and `isMet`
   * says whether one of them has met it yet.
   */
  befall(tellAll: (order: DiskOrder) => void, isMet: () => boolean): Promise<void>;
  close(): Promise<void>;
}

export const ENGINES = ["postgres", "better-sqlite3", "libsql"] as const;
export type EngineName = (typeof ENGINES)[number];

export function openEngine(name: EngineName): Promise<SoakEngine> {
  return name === "postgres" ? postgres() : sqlite(name);
}

/** A server that is restarted: in order every other time, else as if it had crashed. */
async function postgres(): Promise<SoakEngine> {
  const server = await startPostgres();
  let restarts = 0;
  return {
    name: "postgres",
    address: { target: "pg", url: await server.createDatabase() },
    mishap: "restarts",
    befall: () => server.restart(restarts++ % 2 === 0 ? "orderly" : "crash"),
    close: () => server.stop(),
  };
}

const DISK_MB = 192;
/** A disk is full for so long, and for longer until somebody has met it. */
const FULL_MS = 4000;
const LONGEST_FULL_MS = 20_000;

function isOn(startMs: number, isMet: () => boolean): boolean {
  const ms = Date.now() - startMs;
  return ms < FULL_MS || (ms < LONGEST_FULL_MS && !isMet());
}

const ATTEMPT = `
  const Database = require("better-sqlite3");
  const [path, sql] = process.argv.slice(1);
  try { new Database(path, { timeout: 1000 }).exec(sql); } catch {}
`;

/**
 * A file on a small disk of its own that a ballast fills. Only root may mount one; for others each process forbids
 * its own connection to let the file grow.
 */
async function sqlite(name: "better-sqlite3" | "libsql"): Promise<SoakEngine> {
  const disk = mkdtempSync(join(tmpdir(), "wadi-soak-"));
  const isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${DISK_MB}m`, "tmpfs", disk]).status === 0;
  const path = join(disk, "data.db");
  const ballast = join(disk, "ballast");

  /** Runs a statement past everybody else, unless the file is locked or there is no room even for this. */
  async function attempt(sql: string): Promise<void> {
    // Not here: closing a file ends the locks that another SQLite library of the same process holds on it.
    await once(spawn(process.execPath, ["-e", ATTEMPT, path, sql], { stdio: "ignore" }), "exit");
  }

  async function fillDisk(isMet: () => boolean): Promise<void> {
    const startMs = Date.now();
    // Again and again: what is freed meanwhile is filled too, and the log, whose room is used over and over, begins anew.
    while (isOn(startMs, isMet)) {
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
    mishap: "diskFull",
    async befall(tellAll, isMet) {
      if (isMounted) return fillDisk(isMet);
      await attempt("vacuum"); // pages that were freed would be used again
      tellAll({ maxPages: 1 });
      for (const startMs = Date.now(); isOn(startMs, isMet); ) await sleep(50);
      tellAll({ maxPages: 2 ** 32 - 2 });
    },
    async close() {
      if (isMounted) spawnSync("umount", ["-l", disk]);
      rmSync(disk, { recursive: true, force: true });
    },
  };
}

/** Appends to a file until its disk takes no more. */
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
