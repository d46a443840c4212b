// Drains hostile rows in a separate process, and prints how many tasks ran at once and how the drain ended.
import Database from "better-sqlite3";
import { betterSqlite3 } from "../../src/drivers/better-sqlite3.ts";
import { Wadi, Worker } from "../../src/index.ts";
import { seededRandom } from "../task-input.ts";
import { hostileRow, insertOf } from "./rows.ts";

const db = new Database(":memory:");
const wadi = new Wadi(betterSqlite3(db));
await wadi.migrate();
const random = seededRandom(3);
const fractional = await wadi.submitMany("send", Array(10).fill({ payload: 1 }));
db.exec("update cairnq_tasks set run_at_ms = 1000.5");
db.exec(insertOf(Array.from({ length: 60 }, (_, n) => hostileRow("sqlite", random, n))));
db.exec("update cairnq_tasks set crashes = 0");
db.exec("update cairnq_tasks set concurrency_key = '' where id not like 'task_0%'");

let running = 0;
let most = 0;
const worker = new Worker(wadi, { queues: ["default", "mail"], concurrency: 10 });
for (const name of ["send", "a%'\"", "💥"])
  worker.task(name, async ({ payload }) => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 50));
    running--;
    return payload;
  });
const { claimed } = await worker.drain({ budgetMs: 10_000 });
const states = await Promise.all(fractional.map(({ id }) => wadi.getStatus(id)));
const succeeded = states.filter((state) => state?.status === "succeeded").length;
process.stdout.write(JSON.stringify({ claimed, succeeded, most }));
process.exit(0);
