// A Durable Object whose alarm is its worker: it drains, and sets the next alarm to when the next task is due.
import { type DurableObjectStorageLike, durableObject } from "../src/drivers/durable-object.ts";
import { Wadi, Worker } from "../src/index.ts";

interface Storage extends DurableObjectStorageLike {
  setAlarm(atMs: number): Promise<void>;
}

/** What the object answers to each request. */
export interface AlarmReport {
  readonly alarms: number;
  readonly queued: number;
  readonly succeeded: number;
}

export class AlarmDatabase {
  readonly #storage: Storage;
  readonly #wadi: Wadi;
  readonly #worker: Worker;
  #alarms = 0;

  constructor({ storage }: { storage: Storage }) {
    this.#storage = storage;
    this.#wadi = new Wadi(durableObject(storage));
    const insert = (id: string) => [{ sql: "insert into done (id) values (?)", params: [id] }];
    this.#worker = new Worker(this.#wadi)
      .task("limited", (c) => c.succeedWith(insert(c.id)))
      .task("parent", async (c) => {
        await c.submit("child", null);
        return c.succeedWith(insert(c.id));
      })
      .task("child", (c) => c.succeedWith(insert(c.id)));
  }

  /** POST submits 20 tasks under a limit of 5 at a time and a parent with a child. */
  async fetch(request: Request): Promise<Response> {
    if (request.method === "POST") {
      this.#storage.sql.exec("create table done (id text primary key)");
      const limits = { key: "k", concurrency: 5 };
      await this.#wadi.submitMany(
        "limited",
        Array.from({ length: 20 }, () => ({ payload: null, limits })),
      );
      await this.#wadi.submit("parent", null);
      await this.#storage.setAlarm(Date.now());
    }
    const { queued, succeeded } = (await this.#wadi.stats(["default"])).default!;
    return Response.json({ alarms: this.#alarms, queued, succeeded } satisfies AlarmReport);
  }

  async alarm(): Promise<void> {
    this.#alarms++;
    const { nextDueAtMs } = await this.#worker.drain({ budgetMs: 20_000 });
    if (nextDueAtMs !== null) await this.#storage.setAlarm(nextDueAtMs);
  }
}

export default { fetch: () => new Response("the object is called by its name") };
