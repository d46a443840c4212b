import pg from "pg";
import { pg as pgExecutor } from "../src/drivers/pg.ts";
import { Wadi } from "../src/index.ts";
import { serveRaw } from "./postgres-served.ts";
import {
  CLAIM,
  GET,
  INSERT,
  INSERT_MANY,
  NOW,
  named,
  RELEASE,
  SETTLE,
  SETTLE_FENCED,
  SUBMIT_KEYED,
} from "./postgres-sql.ts";
import { type Backlog, IDLE_QUEUE, NAME, PAYLOAD, QUEUE, type Served, type Side } from "./side.ts";
import { serveWadi, wadiSide } from "./wadi-side.ts";

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
  const settleFenced = (ids: readonly string[], results: string) =>
    client.query(named("settle-fenced", SETTLE_FENCED, [Date.now(), ids, results]));
  const idsOf = (result: pg.QueryResult) => result.rows.map((row) => row.id as string);
  /** Sends all of it at once. */
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
    async drainAhead(_, ahead) {
      let held: string[] = [];
      do {
        const done = held;
        const results = JSON.stringify(Object.fromEntries(done.map((taskId) => [taskId, null])));
        const answers = await transaction(() => [settleFenced(done, results), claim(QUEUE, ahead)]);
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
      await client.query(named("get", GET, [taskId]));
    },
    serve: () => serveRaw(url, id),
    clear: () => clear(client),
    fill: (backlog) => fill(client, backlog),
    close: () => client.end(),
  };
}

async function clear(client: pg.Client | pg.Pool): Promise<void> {
  await client.query("truncate cairnq_tasks, cairnq_task_keys cascade");
}

async function fill(client: pg.Client | pg.Pool, { due, notDue, finished }: Backlog): Promise<void> {
  const rows = (count: number, prefix: string, status: string, runAt: string, completedAt: string) =>
    client.query(`insert into cairnq_tasks (id, name, queue, status, payload, run_at_ms,
        created_at_ms, updated_at_ms, completed_at_ms)
      select '${prefix}' || lpad(i::text, 10, '0'), '${NAME}', '${QUEUE}', '${status}', '${JSON.stringify(PAYLOAD)}',
        ${runAt}, ${NOW}, ${NOW}, ${completedAt} from generate_series(1, ${count}) i`);
  // One connection, so that the trigger is off for these rows only.
  await client.query("alter table cairnq_tasks disable trigger user");
  await rows(due, "due_", "queued", `${NOW} - 1000`, "null");
  await rows(notDue, "later_", "queued", `${NOW} + 3600000`, "null");
  await rows(finished, "done_", "succeeded", `${NOW} - 5000`, `${NOW} - 1000`);
  await client.query("alter table cairnq_tasks enable trigger user");
}

/** A caller and a worker that share only the database. */
async function serve(url: string): Promise<Served> {
  const pools = [new pg.Pool({ connectionString: url }), new pg.Pool({ connectionString: url })];
  const clients = pools.map((pool) => new Wadi(pgExecutor(pool)));
  const { call, stop } = serveWadi(clients[0]!, clients[1]!);
  return {
    call,
    async stop() {
      await stop();
      for (const wadi of clients) await wadi.close();
      for (const pool of pools) await pool.end();
    },
  };
}

/** Both sides on separate databases with the same tables, indexes and triggers. */
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
  const side = await wadiSide(
    pgExecutor(pool, { listen: false }),
    (backlog) => fill(pool, backlog),
    () => serve(via(wadiUrl)),
  );
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
