// A separate process on a file: submits a task, or runs those that are due.

import Database from "better-sqlite3";
import { betterSqlite3 } from "../src/drivers/better-sqlite3.ts";
import { Wadi, Worker } from "../src/index.ts";

const [file, work] = process.argv.slice(2);
const db = new Database(file!);
const wadi = new Wadi(betterSqlite3(db));
if (work === "submit") await wadi.submit("a", 1);
else await new Worker(wadi).task("a", ({ payload }) => payload).drain();
await wadi.close();
db.close();
