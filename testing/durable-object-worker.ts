// The Durable Object of the tests: each object is a separate database, and runs the statements it is sent on its
// storage.
import type { Statement } from "../src/core/executor.ts";
import { type DurableObjectStorageLike, durableObject } from "../src/drivers/durable-object.ts";

interface Cursor {
  readonly rowsRead: number;
  readonly rowsWritten: number;
  toArray(): unknown[];
}

interface Storage extends DurableObjectStorageLike {
  readonly sql: { exec(sql: string, ...params: unknown[]): Cursor };
}

export interface Call {
  readonly method: "run" | "batch";
  readonly statements: readonly Statement[];
}

export class Database {
  readonly #meter = { roundTrips: 0, statements: 0, rowsRead: 0, rowsWritten: 0 };
  readonly #storage: DurableObjectStorageLike;

  constructor({ storage }: { storage: Storage }) {
    this.#storage = this.#metered(storage);
  }

  async fetch(request: Request): Promise<Response> {
    const { method, statements } = (await request.json()) as Call;
    const executor = durableObject(this.#storage);
    try {
      const results =
        method === "run" ? [await executor.run(statements[0]!)] : await executor.batch(statements);
      return Response.json({ results, meter: this.#meter });
    } catch (error) {
      return Response.json({ error: (error as Error).message, meter: this.#meter });
    }
  }

  /** The storage, with a count of the calls that reach it and of the rows that it reports. */
  #metered(storage: Storage): DurableObjectStorageLike {
    const meter = this.#meter;
    let isOpen = false;
    return {
      sql: {
        exec(text, ...params) {
          if (!isOpen) meter.roundTrips++;
          meter.statements++;
          const cursor = storage.sql.exec(text, ...params);
          return {
            toArray() {
              const rows = cursor.toArray();
              meter.rowsRead += cursor.rowsRead;
              meter.rowsWritten += cursor.rowsWritten;
              return rows;
            },
          };
        },
      },
      transactionSync(work) {
        meter.roundTrips++;
        isOpen = true;
        try {
          return storage.transactionSync(work);
        } finally {
          isOpen = false;
        }
      },
    };
  }
}

export default { fetch: () => new Response("the object is called by its name") };
