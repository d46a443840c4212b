import pg from "pg";
import { pg as pgExecutor } from "../src/drivers/pg.ts";
import { Wadi } from "../src/index.ts";
import { type Backlog, IDLE_QUEUE, NAME, PAYLOAD, QUEUE, type Side } from "./side.ts";
import { wadiSide } from "./wadi-side.ts";

const NOW = "(extract(epoch from clock_timestamp()) * 1000)::bigint";
const named = (name: string, text: string, values: unknown[] = []) => ({ name, text, values });

const INSERT = `insert into cairnq_tasks (id, root_id, name, queue, status, payload, run_at_ms, created_at_ms, updated_at_ms)
  values ($1, $1, '${NAME}', $2, 'queued', $3, $4, $4, $4)`;
const INSERT_MANY = `insert into cairnq_tasks (id, root_id, name, queue, status, payload, run_at_ms, created_at_ms, updated_at_ms)
  select id, id, '${NAME}', '${QUEUE}', 'queued', payload::jsonb, $3, $3, $3 from unnest($1::text[], $2::text[]) as t(id, payload)`;
/** The least that is safe when submits race: the key goes first, and its owner inserts the task. */
const SUBMIT_KEYED = `with pointed as (
    insert into cairnq_task_keys values ($1, $2, $5, $5) on conflict (key) do nothing returning task_id
  ), inserted as (
    insert into cairnq_tasks (id, root_id, name, queue, status, payload, run_at_ms, created_at_ms, updated_at_ms)
    select task_id, task_id, '${NAME}', $3, 'queued', $4, $5, $5, $5 from pointed returning *
  )
  select * from inserted
  union all
  select t.* from cairnq_task_keys k join cairnq_tasks t on t.id = k.task_id
  where k.key = $1 and not exists (select 1 from pointed)`;
const CLAIM = `update cairnq_tasks set status = 'running', worker_id = 'raw', lease_until_ms = $1, attempt = attempt + 1
  where id = any(array(
    select id from cairnq_tasks
    where status = 'queued' and queue = $2 and name = '${NAME}' and concurrency_key = '' and priority = 0 and run_at_ms <= $3
    order by run_at_ms, id limit $4 for update skip locked
  )) returning id, payload, attempt`;
const SETTLE = `update cairnq_tasks set status = 'succeeded', result = 'null', progress = 1, lease_until_ms = null, completed_at_ms = $1
  where id = any($2::text[]) and worker_id = 'raw'`;
const RELEASE = `update cairnq_tasks set status = 'queued', worker_id = null, lease_until_ms = null, attempt = attempt - 1
  where id = any($1::text[])`;

/** Hand-written prepared statements on one connection that pipelines: a transaction is one round trip. */
async function rawSide(url: string): Promise<Side> {
  const client = new pg.Client({ connectionString: url, pipeline: true } as pg.ClientConfig);
  await client.connect();
  let next = 0;
  const id = () => `raw_${String(++next).padStart(12, "0")}`;
  const payload = JSON.stringify(PAYLOAD);
  const insert = (taskId: string, queue: string) =>
    client.query(named("insert", INSERT, [taskId, queue, payload, Date.now()]));
  const claim = (queue: string, count: number) =>
    client.query(named("claim", CLAIM, [Date.now() + 60_000, queue, Date.now(), count]));
  const settle = (ids: readonly string[]) => client.query(named("settle", SETTLE, [Date.now(), ids]));
  const idsOf = (result: pg.QueryResult) => result.rows.map((row) => row.id as string);
  /** All of it in one flight. */
  const transaction = async <T>(statements: () => Promise<T>[]) => {
    const begin = client.query("begin");
    const results = statements();
    const [, ...answers] = await Promise.all([begin, ...results, client.query("commit")]);
    return answers as T[];
  };
  const submitKeyed = (key: string, queue: string) =>
    client.query(named("submit-keyed", SUBMIT_KEYED, [key, id(), queue, payload, Date.now()]));
  return {
    submit: async () => void (await insert(id(), QUEUE)),
    async submitMany(count) {
      const ids = Array.from({ length: count }, id);
      await client.query(
        named("insert-many", INSERT_MANY, [ids, ids.map(() => JSON.stringify(PAYLOAD)), Date.now()]),
      );
    },
    submitNewKey: async () => void (await submitKeyed(id(), QUEUE)),
    submitExistingKey: async () => void (await submitKeyed("existing", IDLE_QUEUE)),
    async drain(concurrency) {
      let held: string[] = [];
      do {
        const done = held;
        const answers = await transaction(() => [settle(done), claim(QUEUE, concurrency)]);
        held = idsOf(answers[1]!);
      } while (held.length > 0);
    },
    async claim(count) {
      const ids = idsOf(await claim(QUEUE, count));
      await client.query(named("release", RELEASE, [ids]));
    },
    poll: async () => void (await claim(IDLE_QUEUE, 10)),
    async call() {
      const taskId = id();
      await insert(taskId, QUEUE);
      await settle(idsOf(await claim(QUEUE, 1)));
      await client.query(named("get", "select * from cairnq_tasks where id = $1", [taskId]));
    },
    clear: () => clear(client),
    fill: (backlog) => fill(client, backlog),
    close: () => client.end(),
  };
}

async function clear(client: pg.Client | pg.Pool): Promise<void> {
  await client.query("truncate cairnq_tasks, cairnq_task_keys");
}

async function fill(client: pg.Client | pg.Pool, { due, notDue, finished }: Backlog): Promise<void> {
  const rows = (count: number, prefix: string, status: string, runAt: string, completedAt: string) =>
    client.query(`insert into cairnq_tasks (id, name, queue, status, payload, run_at_ms, created_at_ms, updated_at_ms, completed_at_ms)
      select '${prefix}' || lpad(i::text, 10, '0'), '${NAME}', '${QUEUE}', '${status}', '${JSON.stringify(PAYLOAD)}',
        ${runAt}, ${NOW}, ${NOW}, ${completedAt} from generate_series(1, ${count}) i`);
  // One connection, so that the trigger is off for these rows only.
  await client.query("alter table cairnq_tasks disable trigger user");
  await rows(due, "due_", "queued", `${NOW} - 1000`, "null");
  await rows(notDue, "later_", "queued", `${NOW} + 3600000`, "null");
  await rows(finished, "done_", "succeeded", `${NOW} - 5000`, `${NOW} - 1000`);
  await client.query("alter table cairnq_tasks enable trigger user");
}

/** Both sides on databases of their own with the same tables, indexes and triggers. */
export async function postgresSides(
  createDatabase: () => Promise<string>,
  port?: number,
): Promise<{ raw: Side; wadi: Side }> {
  const [rawUrl, wadiUrl] = [await createDatabase(), await createDatabase()];
  const via = (url: string) => {
    const there = new URL(url);
    if (port !== undefined) there.port = String(port);
    return there.href;
  };
  const setUp = new pg.Pool({ connectionString: rawUrl });
  await new Wadi(pgExecutor(setUp, { listen: false })).migrate();
  await setUp.end();
  const pool = new pg.Pool({ connectionString: via(wadiUrl), max: 4 });
  const side = await wadiSide(pgExecutor(pool, { listen: false }), (backlog) => fill(pool, backlog));
  return {
    raw: await rawSide(via(rawUrl)),
    wadi: {
      ...side,
      clear: () => clear(pool),
      close: async () => {
        await side.close();
        await pool.end();
      },
    },
  };
}
