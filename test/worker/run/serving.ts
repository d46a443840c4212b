// A process that serves tasks of a database file until a signal stops it: `serving.ts PATH WORK_MS GRACE_MS`.
import Database from "better-sqlite3";
import { betterSqlite3 } from "../../../src/drivers/better-sqlite3.ts";
import { Wadi, Worker } from "../../../src/index.ts";

const [path, workMs, graceMs] = process.argv.slice(2);
const db = new Database(path);
const wadi = new Wadi(betterSqlite3(db));
const worker = new Worker(wadi, { pollMs: 20, maxPollMs: 50, concurrency: 2, prefetch: 2 }).task(
  "a",
  async ({ id }) => {
    console.log(`started ${id}`);
    await new Promise((resolve) => setTimeout(resolve, Number(workMs)));
  },
);
console.log("ready");
const { succeeded, released } = await worker.serve({ graceMs: Number(graceMs) });
await wadi.close();
db.close();
console.log(`stopped ${succeeded} ${released} ${process.listenerCount("SIGTERM")}`);
