// Holds the write lock of a SQLite file in another process.

import { spawn } from "node:child_process";
import { once } from "node:events";

const SCRIPT = `
  const Database = require("better-sqlite3");
  const [path, ms] = process.argv.slice(1);
  const db = new Database(path);
  db.exec("begin immediate");
  process.stdout.write("held");
  setTimeout(() => { db.exec("commit"); db.close(); }, Number(ms));
`;

/**
 * Resolves when another process holds the write lock of `path`; it releases the lock after `ms`, when `released`
 * resolves.
 */
export async function holdLock(path: string, ms: number): Promise<{ released: Promise<unknown> }> {
  const child = spawn(process.execPath, ["-e", SCRIPT, path, String(ms)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const released = once(child, "exit");
  await once(child.stdout, "data");
  return { released };
}

/** Counts the turns of a 10 ms timer while `work` runs: few if the event loop was held. */
export async function countTicks<T>(
  work: () => Promise<T>,
): Promise<{ result: T; ticks: number; ms: number }> {
  let ticks = 0;
  const timer = setInterval(() => ticks++, 10);
  const start = performance.now();
  try {
    const result = await work();
    return { result, ticks, ms: performance.now() - start };
  } finally {
    clearInterval(timer);
  }
}
