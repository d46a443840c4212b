// The engine better-sqlite3: Wadi and raw statements on files with the same tables.

import Database from "better-sqlite3";
import { betterSqlite3 } from "../src/drivers/better-sqlite3.ts";
import { Wadi } from "../src/index.ts";
import { IDLE_QUEUE, NAME, PAYLOAD, QUEUE, type Side } from "./side.ts";
import { wadiSide } from "./wadi-side.ts";

const NOW = "cast(unixepoch('subsec') * 1000 as integer)";
const INSERT = `insert into cairnq_tasks (id, root_id, name, queue, status, payload, run_at_ms,
    created_at_ms, updated_at_ms)
  values (?, ?, '${NAME}', ?, 'queued', ?, ?, ?, ?)`;
const CLAIM = `update cairnq_tasks set status = 'running', worker_id = ?, lease_until_ms = ?, attempt = attempt + 1
  where id in (
    select id from cairnq_tasks
    where status = 'queued' and queue = +? and name = '${NAME}'
      and concurrency_key = '' and priority = 0 and run_at_ms <= ?
    order by run_at_ms, id limit +?
  ) returning id, payload, attempt`;
const SETTLE = `update cairnq_tasks set status = 'succeeded', result = 'null', progress = 1,
    lease_until_ms = null, completed_at_ms = ?
  where id = ? and worker_id = ?`;
const SETTLE_FENCED = `update cairnq_tasks set status = 'succeeded', result = ?, progress = 1,
    lease_until_ms = null, completed_at_ms = ?
  where id = ? and worker_id = ? and status = 'running' and lease_until_ms > ?`;
const RELEASE =
  "update cairnq_tasks set status = 'queued', worker_id = null, lease_until_ms = null, attempt = attempt - 1 " +
  "where id = ?";

/** Whether each commit reaches the disk before it is answered. */
export type Synchronous = "full" | "normal";

interface ClaimedRow {
  readonly id: string;
}

/** Hand-written prepared statements on the same tables: one minimal write a step, one transaction a batch. */
function rawSide(file: string, synchronous: Synchronous): Side {
  const db = new Database(file);
  db.pragma("journal_mode = wal");
  db.pragma(`synchronous = ${synchronous}`);
  const insert = db.prepare(INSERT);
  const insertKey = db.prepare("insert into cairnq_task_keys values (?, ?, ?, ?)");
  const byKey = db.prepare(
    "select t.* from cairnq_task_keys k join cairnq_tasks t on t.id = k.task_id where k.key = ?",
  );
  const claim = db.prepare(CLAIM);
  const settle = db.prepare(SETTLE);
  const settleFenced = db.prepare(SETTLE_FENCED);
  const release = db.prepare(RELEASE);
  const get = db.prepare("select * from cairnq_tasks where id = ?");
  let next = 0;
  const id = () => `raw_${String(++next).padStart(12, "0")}`;
  const add = (taskId: string, queue = QUEUE) => {
    const nowMs = Date.now();
    insert.run(taskId, taskId, queue, JSON.stringify(PAYLOAD), nowMs, nowMs, nowMs);
  };
  const take = (queue: string, count: number) => {
    const nowMs = Date.now();
    return claim.all("raw", nowMs + 60_000, queue, nowMs, count) as ClaimedRow[];
  };
  const addMany = db.transaction((count: number) => {
    for (let i = 0; i < count; i++) add(id());
  });
  const addKeyed = db.transaction((key: string, queue: string) => {
    if (byKey.get(key) !== undefined) return;
    const taskId = id();
    add(taskId, queue);
    insertKey.run(key, taskId, Date.now(), Date.now());
  });
  const step = db.transaction((done: readonly ClaimedRow[], count: number) => {
    for (const row of done) settle.run(Date.now(), row.id, "raw");
    return take(QUEUE, count);
  });
  const stepFenced = db.transaction((done: readonly ClaimedRow[], count: number) => {
    const nowMs = Date.now();
    for (const row of done) settleFenced.run("null", nowMs, row.id, "raw", nowMs);
    return take(QUEUE, count);
  });
  const giveBack = db.transaction((rows: readonly ClaimedRow[]) => {
    for (const row of rows) release.run(row.id);
  });
  const call = async () => {
    const taskId = id();
    add(taskId);
    for (const row of take(QUEUE, 1)) settle.run(Date.now(), row.id, "raw");
    get.get(taskId);
  };
  return {
    submit: async () => add(id()),
    submitMany: async (count) => addMany.immediate(count),
    submitNewKey: async () => addKeyed.immediate(id(), QUEUE),
    submitExistingKey: async () => addKeyed.immediate("existing", IDLE_QUEUE),
    async drain(concurrency) {
      let held: ClaimedRow[] = [];
      do held = step.immediate(held, concurrency);
      while (held.length > 0);
    },
    async drainAhead(_, ahead) {
      let held: ClaimedRow[] = [];
      do held = stepFenced.immediate(held, ahead);
      while (held.length > 0);
    },
    claim: async (count) => giveBack.immediate(take(QUEUE, count)),
    poll: async () => void take(IDLE_QUEUE, 10),
    call,
    serve: async () => ({ call, stop: async () => {} }),
    clear: async () => void db.exec("delete from cairnq_task_keys; delete from cairnq_tasks"),
    fill: async (backlog) => fill(db, backlog),
    close: async () => void db.close(),
  };
}

function fill(db: Database.Database, backlog: { due: number; notDue: number; finished: number }): void {
  const rows = (count: number, prefix: string, status: string, runAt: string, completedAt: string) =>
    db.exec(`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
      insert into cairnq_tasks (id, name, queue, status, payload, run_at_ms,
        created_at_ms, updated_at_ms, completed_at_ms)
      select '${prefix}' || printf('%010d', i), '${NAME}', '${QUEUE}', '${status}', '${JSON.stringify(PAYLOAD)}',
        ${runAt}, ${NOW}, ${NOW}, ${completedAt} from n where ${count} > 0`);
  rows(backlog.due, "due_", "queued", `${NOW} - 1000`, "null");
  rows(backlog.notDue, "later_", "queued", `${NOW} + 3600000`, "null");
  rows(backlog.finished, "done_", "succeeded", `${NOW} - 5000`, `${NOW} - 1000`);
}

/** Both sides on separate files with the same tables and indexes. */
export async function sqliteSides(
  directory: string,
  synchronous: Synchronous,
): Promise<{ raw: Side; wadi: Side }> {
  const rawFile = `${directory}/raw-${synchronous}.db`;
  const setUp = new Database(rawFile);
  await new Wadi(betterSqlite3(setUp)).migrate();
  setUp.close();
  const db = new Database(`${directory}/wadi-${synchronous}.db`);
  return {
    raw: rawSide(rawFile, synchronous),
    wadi: await wadiSide(betterSqlite3(db, synchronous === "full" ? {} : { synchronous }), async (backlog) =>
      fill(db, backlog),
    ),
  };
}
