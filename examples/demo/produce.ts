// Submits one task for each Markdown, SQL and TypeScript file of this repository, and ends.
// By hand: node examples/demo/produce.ts demo.db
import Database from "better-sqlite3";
import { betterSqlite3 } from "../../src/drivers/better-sqlite3.ts";
import { Wadi } from "../../src/index.ts";
import { programArguments } from "./arguments.ts";
import { repositoryFiles } from "./files.ts";
import { inspectFile, keyOf } from "./tasks.ts";

const [file] = programArguments("DATABASE");

// There is no set-up step: the first operation on a new database makes the tables.
const db = new Database(file);
const wadi = new Wadi(betterSqlite3(db));

// A key has at most one live task, so a producer that runs twice does not double the work.
const entries = repositoryFiles().map((path) => ({ payload: { path }, key: keyOf(path) }));
const tasks = await wadi.submitMany(inspectFile, entries);
console.log(JSON.stringify({ submitted: tasks.filter((task) => task.outcome === "created").length }));

await wadi.close();
db.close();
