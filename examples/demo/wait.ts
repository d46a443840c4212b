// Waits for tasks by their keys, which may not even be submitted yet, and prints a line as each succeeds.
// By hand: node examples/demo/wait.ts demo.db file:protocol/PROTOCOL.md
import Database from "better-sqlite3";
import { betterSqlite3 } from "../../src/drivers/better-sqlite3.ts";
import { Wadi } from "../../src/index.ts";
import { programArguments } from "./arguments.ts";

const [file, ...keys] = programArguments("DATABASE", "KEY...");

const db = new Database(file);
const wadi = new Wadi(betterSqlite3(db));

const waits = keys.map(async (key) => {
  const { status, result, attempt } = await wadi.waitByKey(key, { timeoutMs: 60_000 });
  console.log(JSON.stringify({ key, status, attempt, result }));
});
await Promise.all(waits);

await wadi.close();
db.close();
