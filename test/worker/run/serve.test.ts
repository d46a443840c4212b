// A served worker in a process that gets signals.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import { betterSqlite3 } from "../../../src/drivers/better-sqlite3.ts";
import { Wadi } from "../../../src/index.ts";
import { until } from "../../../testing/until.ts";

let directory: string;
let db: Database.Database;
let wadi: Wadi;
let child: ChildProcess;
let output: string;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "wadi-serve-"));
  db = new Database(join(directory, "data.db"));
  wadi = new Wadi(betterSqlite3(db));
  await wadi.submitMany(
    "a",
    Array.from({ length: 4 }, () => ({ payload: null })),
  );
});
afterEach(() => {
  child.kill("SIGKILL");
  db.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Starts a process that serves, and waits until two handlers run in it. */
async function serve(workMs: number, graceMs: number): Promise<{ ended: Promise<unknown[]> }> {
  const args = [join(directory, "data.db"), String(workMs), String(graceMs)];
  child = spawn(process.execPath, [join(import.meta.dirname, "serving.ts"), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  output = "";
  child.stdout!.on("data", (text) => {
    output += text;
  });
  const ended = once(child, "close");
  await until(() => output.match(/started/g)?.length === 2);
  return { ended };
}

const statuses = async () => (await wadi.list()).map(({ status, attempt }) => `${status} ${attempt}`).sort();

test.each(["SIGINT", "SIGTERM"] as const)(
  "%s lets handlers finish, and the process ends by itself",
  async (signal) => {
    const { ended } = await serve(500, 10_000);
    child.kill(signal);
    expect(await ended).toEqual([0, null]);
    expect(output).toContain("stopped 2 2 0");
    expect(await statuses()).toEqual(["queued 0", "queued 0", "succeeded 1", "succeeded 1"]);
  },
);

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("a second signal, %s, ends the process at once with %d", async (signal, code) => {
  const { ended } = await serve(60_000, 60_000);
  child.kill("SIGTERM");
  await until(async () => (await statuses()).filter((status) => status === "queued 0").length === 2);
  child.kill(signal);
  expect(await ended).toEqual([code, null]);
  expect(output).not.toContain("stopped");
  expect(await statuses()).toEqual(["queued 0", "queued 0", "running 1", "running 1"]);
});
