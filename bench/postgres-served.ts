import pg from "pg";
import { CLAIM, GET, INSERT, named, SETTLE } from "./postgres-sql.ts";
import { PAYLOAD, QUEUE, type Served } from "./side.ts";

/** A caller and a worker with one connection each, both listening; the triggers of the table tell them. */
export async function serveRaw(url: string, newId: () => string): Promise<Served> {
  const [caller, worker] = [new pg.Client(url), new pg.Client(url)];
  await Promise.all([caller.connect(), worker.connect()]);
  const waiting = new Map<string, () => void>();
  caller.on("notification", ({ payload }) => waiting.get(payload!)?.());
  worker.on("notification", ({ payload }) => payload === QUEUE && void work());
  await caller.query("listen cairnq_done");
  await worker.query("listen cairnq_queued");
  let signals = 0;

  /** One at a time; a signal that comes meanwhile makes it look again. */
  async function work(): Promise<void> {
    if (signals++ > 0) return;
    for (let seen = 0; seen < signals; ) {
      seen = signals;
      const { rows } = await worker.query(
        named("claim", CLAIM, [Date.now() + 60_000, QUEUE, Date.now(), 16]),
      );
      if (rows.length > 0)
        await worker.query(named("settle", SETTLE, [Date.now(), rows.map((row) => row.id)]));
    }
    signals = 0;
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
    stop: async () => void (await Promise.all([caller.end(), worker.end()])),
  };
}
