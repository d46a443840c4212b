import pg from "pg";
import { CLAIM, GET, INSERT, named, SETTLE } from "./postgres-sql.ts";
import { PAYLOAD, QUEUE, type Served } from "./side.ts";

/** A caller and a worker with one connection each, both listening to the notifications of the table's triggers. */
export async function serveRaw(url: string, newId: () => string): Promise<Served> {
  const [caller, worker] = [new pg.Client(url), new pg.Client(url)];
  await Promise.all([caller.connect(), worker.connect()]);
  let working = Promise.resolve();
  const waiting = new Map<string, () => void>();
  caller.on("notification", ({ payload }) => waiting.get(payload!)?.());
  worker.on("notification", ({ payload }) => {
    if (payload === QUEUE) working = working.then(work);
  });
  await caller.query("listen cairnq_done");
  await worker.query("listen cairnq_queued");

  async function work(): Promise<void> {
    const claim = [Date.now() + 60_000, QUEUE, Date.now(), 16];
    const { rows } = await worker.query(named("claim", CLAIM, claim));
    if (rows.length === 0) return;
    await worker.query(named("settle", SETTLE, [Date.now(), rows.map((row) => row.id)]));
  }

  return {
    async call() {
      const id = newId();
      const done = new Promise<void>((resolve) => {
        waiting.set(id, resolve);
      });
      await caller.query(named("insert", INSERT, [id, QUEUE, JSON.stringify(PAYLOAD), Date.now()]));
      await done;
      waiting.delete(id);
      await caller.query(named("get", GET, [id]));
    },
    async stop() {
      await working;
      await Promise.all([caller.end(), worker.end()]);
    },
  };
}
