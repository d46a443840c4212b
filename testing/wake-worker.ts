// A Worker, and a Durable Object with a database, in which only kicks start drains; both say when tasks started.
import { type D1Like, d1 } from "../src/drivers/d1.ts";
import { type DurableObjectStorageLike, durableObject } from "../src/drivers/durable-object.ts";
import { createHandler } from "../src/http/index.ts";
import {
  type AlarmStorageLike,
  type FetcherLike,
  Wadi,
  Worker,
  wakeByBinding,
  wakeByDurableObject,
} from "../src/index.ts";

/** What `/report` answers. */
export interface WakeReport {
  readonly drains: number;
  /** When the handler of each payload started, in epoch milliseconds. */
  readonly startedAtMs: { readonly [payload: string]: number };
}

const SECRET = "the secret of the wake test";

class Recorder {
  drains = 0;
  readonly startedAtMs: Record<string, number> = {};

  worker(wadi: Wadi): Worker {
    return new Worker(wadi).task("note", ({ payload }) => {
      this.startedAtMs[String(payload)] = Date.now();
    });
  }

  /** The routes that both have. */
  async answer({ url }: Request, wadi: () => Wadi): Promise<Response> {
    const { pathname, searchParams } = new URL(url);
    if (pathname === "/submit") return Response.json((await wadi().submit("note", searchParams.get("n"))).id);
    if (pathname === "/report") return Response.json(this);
    return new Response("bare");
  }
}

export class WakeObject {
  readonly #recorder = new Recorder();
  readonly #wadi: Wadi;

  constructor({ storage }: { storage: DurableObjectStorageLike & AlarmStorageLike }) {
    this.#wadi = new Wadi(durableObject(storage), { wake: wakeByDurableObject(storage) });
  }

  fetch(request: Request): Promise<Response> {
    return this.#recorder.answer(request, () => this.#wadi);
  }

  async alarm(): Promise<void> {
    this.#recorder.drains++;
    await this.#recorder.worker(this.#wadi).drain({ trigger: "alarm" });
  }
}

interface Env {
  readonly DB: D1Like;
  readonly SELF: FetcherLike;
  readonly OBJECT: {
    idFromName(name: string): unknown;
    get(id: unknown): { fetch(request: Request): Promise<Response> };
  };
}

const recorder = new Recorder();

export default {
  async fetch(
    request: Request,
    { DB, SELF, OBJECT }: Env,
    context: { waitUntil(promise: Promise<unknown>): void },
  ): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith("/object/")) {
      const url = request.url.replace("/object/", "/");
      return OBJECT.get(OBJECT.idFromName("one")).fetch(new Request(url, request));
    }
    const waitUntil = (promise: Promise<unknown>) => context.waitUntil(promise);
    const wadi = () => new Wadi(d1(DB), { wake: wakeByBinding(SELF, SECRET), waitUntil });
    if (pathname !== "/drain") return recorder.answer(request, wadi);
    recorder.drains++;
    const handler = createHandler({ wadi, worker: (client) => recorder.worker(client), secret: SECRET });
    return handler(request, { waitUntil });
  },
};
