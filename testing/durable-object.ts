// Fresh Durable Objects with SQLite storage in workerd, and an executor that sends each call into one of them.

import { join } from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import type { Executor, Row, Statement } from "../src/core/executor.ts";
import { type DurableObjectStorageLike, durableObject } from "../src/drivers/durable-object.ts";
import type { Call } from "./durable-object-worker.ts";
import { offlineClient } from "./offline-client.ts";
import type { Meter } from "./target.ts";
import { bundleForWorker } from "./worker-bundle.ts";

const LINGER_MS = 1000;

let runtime: Promise<Miniflare> | undefined;
let open = 0;
let opened = 0;

export interface OpenDurableObject {
  /** Sends each call into the object, where the driver itself runs it. */
  readonly executor: Executor;
  meter(): Meter;
  close(): void;
}

interface Answer {
  readonly results: Row[][];
  readonly error?: string;
  readonly meter: Meter;
}

/** Miniflare's types lack it unless the types of workers are installed. */
interface Namespace {
  idFromName(name: string): unknown;
  get(id: unknown): { fetch(url: string, init: RequestInit): Promise<Response> };
}

/**
 * A fresh Durable Object in workerd. All objects of a process share one runtime, which ends after the last is closed.
 */
export async function openDurableObject(): Promise<OpenDurableObject> {
  runtime ??= startDurableObjects(join(import.meta.dirname, "durable-object-worker.ts"), "Database");
  open++;
  const namespace = (await (await runtime).getDurableObjectNamespace("Database")) as unknown as Namespace;
  const object = namespace.get(namespace.idFromName(`database-${opened++}`));
  let meter: Meter = { roundTrips: 0, statements: 0, rowsRead: 0, rowsWritten: 0 };

  async function call(method: Call["method"], statements: readonly Statement[]): Promise<Row[][]> {
    const init = { method: "POST", body: JSON.stringify({ method, statements }) };
    const response = await object.fetch("https://object.test/", init);
    const answer = (await response.json()) as Answer;
    meter = answer.meter;
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer.results;
  }

  return {
    executor: {
      ...durableObject(offlineClient<DurableObjectStorageLike>()),
      run: async (statement) => (await call("run", [statement]))[0]!,
      batch: (statements) => call("batch", statements),
    },
    meter: () => ({ ...meter }),
    close() {
      open--;
      setTimeout(stopIfUnused, LINGER_MS).unref();
    },
  };
}

/** workerd with one class of Durable Objects, which is bound under its own name. */
export async function startDurableObjects(entryPoint: string, className: string): Promise<Miniflare> {
  return new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: await bundleForWorker(entryPoint),
      compatibilityDate: "2026-08-01",
      durableObjects: { [className]: { className, useSQLite: true } },
      cf: false,
    }),
  );
}

function stopIfUnused(): void {
  if (open > 0 || runtime === undefined) return;
  const stopping = runtime;
  runtime = undefined;
  void stopping.then((miniflare) => miniflare.dispose());
}
