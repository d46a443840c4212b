// One worker invocation: runs due tasks for a second or so and ends, as a function called by a cron would.
// By hand: node examples/demo/drain.ts demo.db my-first-drain
import Database from "better-sqlite3";
import { betterSqlite3 } from "../../src/drivers/better-sqlite3.ts";
import { Wadi, Worker } from "../../src/index.ts";
import { programArguments } from "./arguments.ts";
import { inspect, inspectFile } from "./tasks.ts";

const [file, name] = programArguments("DATABASE", "NAME");

const db = new Database(file);
const wadi = new Wadi(betterSqlite3(db));

// If this process is killed, its tasks are queued again when their lease expires.
const worker = new Worker(wadi, { name, concurrency: 6, leaseMs: 1500, backoff: { baseMs: 100 } });
worker.task(inspectFile, inspect);

const summary = await worker.drain({ budgetMs: 1500 });
console.log(JSON.stringify(summary));

await wadi.close();
db.close();
