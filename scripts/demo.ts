// npm run demo [-- --json]: durable tasks on one SQLite file, from several processes, one of which is killed.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { betterSqlite3 } from "../src/drivers/better-sqlite3.ts";
import { Wadi } from "../src/index.ts";
import { Programs } from "./demo/programs.ts";
import { allTasks } from "./demo/rows.ts";
import { run } from "./demo/run.ts";
import { shortfalls, story, summarize } from "./demo/summary.ts";
import { View } from "./demo/view.ts";
import { readOptions } from "./options.ts";

/** The demo takes about five seconds; this limit is for very busy machines. */
const LIMIT_MS = 60_000;

const { json } = readOptions("demo", {
  json: { about: "print the summary as one line of JSON, last" },
});
const view = new View(process.stdout);
const stopped = new AbortController();
const limit = setTimeout(() => stop(`not done after ${LIMIT_MS / 1000} s`), LIMIT_MS);
process.once("SIGINT", () => stop("interrupted"));
process.once("SIGTERM", () => stop("terminated"));
process.stdout.on("error", () => stop("its output was closed"));
try {
  process.exitCode = (await demo()) ? 0 : 1;
} catch (error) {
  view.clear();
  console.error(`demo: ${message(stopped.signal.aborted ? stopped.signal.reason : error)}`);
  process.exitCode = 1;
} finally {
  clearTimeout(limit);
}

function stop(why: string): void {
  stopped.abort(new Error(why));
}

/** True if everything went as promised. */
async function demo(): Promise<boolean> {
  const startedAtMs = Date.now();
  const folder = mkdtempSync(join(tmpdir(), "wadi-demo-"));
  const programs = new Programs(stopped.signal, join(folder, "compiled"));
  const db = new Database(join(folder, "demo.db"));
  try {
    const wadi = new Wadi(betterSqlite3(db));
    const observed = await run(wadi, programs, db.name, view, stopped.signal);
    const tasks = await allTasks(wadi);
    const summary = summarize(observed, tasks, Date.now() - startedAtMs);
    view.clear();
    for (const line of ["", ...story(summary, observed, tasks)]) view.line(line);
    const missing = shortfalls(summary, observed, tasks);
    for (const shortfall of missing) console.error(`demo: ${shortfall}`);
    if (json) view.line(JSON.stringify(summary));
    return missing.length === 0;
  } finally {
    await programs.killAll();
    db.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
