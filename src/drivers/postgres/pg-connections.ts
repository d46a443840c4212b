import type { inTurn } from "../shared/serial-queue.ts";
import type { PgClientLike, PgPoolLike } from "./pg-client.ts";
import { sqlStateOf } from "./sqlstate.ts";

/** A connection for the time of one use. */
export interface Lease {
  readonly client: PgClientLike;
  /** It must not be used again. */
  drop(): void;
}

export type Borrow = <T>(use: (lease: Lease) => Promise<T>, signal?: AbortSignal) => Promise<T>;

/** How long a pool without `connectionTimeoutMillis` is waited for, to have or to open a connection. */
const CONNECT_MS = 30_000;
/** An answer that was waited for at least this long without a byte says something about the connection, and not about the caller. */
const SILENT_MS = 800;
/** The same of a connection that is being opened, by name, over TLS and with a password. */
const OPENING_MS = 5000;
/** What says that a server does not serve any more: a standby now, or shutting down. */
const MOVED = /^(?:25006|57P0[123])$/;

/** What node-pg keeps of a pool and of a client that it does not publish. Where it is missing, less is mended. */
interface PoolInside {
  readonly _clients?: readonly (PgClientLike & { readonly _connecting?: boolean })[];
}

const watched = new WeakSet<PgPoolLike>();
/** By client of a pool: when the server was last heard on it. */
const heardAtMs = new WeakMap<PgClientLike, number>();
/** By pool: connections that were last heard before this are not to be trusted. */
const suspectBeforeMs = new WeakMap<PgPoolLike, number>();

/** Lends the connections of a pool, and gives up those that are silent or lead to a server that does not serve. */
export class PgConnections {
  readonly #pool: PgPoolLike;
  readonly #unsent: (error: unknown) => never;

  /** @param unsent Rethrows an error, and notes that nothing was sent. */
  constructor(pool: PgPoolLike, unsent: (error: unknown) => never) {
    this.#pool = pool;
    this.#unsent = unsent;
    if (watched.has(pool)) return;
    watched.add(pool);
    pool.on("connect", (client) => {
      heardAtMs.set(client, performance.now());
      // The packet that opens a connection may end it too, before the borrower can listen: that would end the process.
      client.on("error", ignore);
    });
  }

  /** Calls `use` with a connection. If `signal` aborts, it is destroyed, which fails what waits for its answer. */
  readonly borrow: Borrow = async (use, signal) => {
    const client = await this.take(signal);
    if (signal?.aborted) {
      client.release();
      throw signal.reason;
    }
    const sentAtMs = performance.now();
    let isBroken = false;
    const drop = () => {
      isBroken = true;
    };
    const abandon = () => {
      isBroken = true;
      if (performance.now() - sentAtMs >= SILENT_MS) this.#suspect(sentAtMs);
      destroy(client);
    };
    client.on("error", ignore);
    signal?.addEventListener("abort", abandon);
    try {
      const result = await use({ client, drop });
      heardAtMs.set(client, performance.now());
      return result;
    } catch (error) {
      const code = sqlStateOf(error);
      if (MOVED.test(code ?? "")) this.#suspect(performance.now());
      else if (code !== undefined) heardAtMs.set(client, performance.now());
      throw error;
    } finally {
      signal?.removeEventListener("abort", abandon);
      if (isBroken) giveUp(client);
      else client.release();
      client.removeListener("error", ignore); // only now: the pool listens again from release on
    }
  };

  /** A connection that is not suspect, to be released. The pool has so many of them, and each is met once. */
  async take(signal?: AbortSignal): ReturnType<PgPoolLike["connect"]> {
    for (;;) {
      const client = await this.#connect(signal);
      const trustedSinceMs = suspectBeforeMs.get(this.#pool) ?? 0;
      if ((heardAtMs.get(client) ?? 0) >= trustedSinceMs) return client;
      giveUp(client);
    }
  }

  async #connect(signal?: AbortSignal): ReturnType<PgPoolLike["connect"]> {
    signal?.throwIfAborted();
    const startedAtMs = performance.now();
    const connected = this.#open();
    const opening = this.#opening();
    if (signal === undefined) return connected.catch(this.#unsent);
    let isAbandoned = false;
    return new Promise<Awaited<ReturnType<PgPoolLike["connect"]>>>((resolve, reject) => {
      const abandon = () => {
        isAbandoned = true;
        if (performance.now() - startedAtMs >= OPENING_MS) this.#cutOff(opening);
        reject(signal.reason);
      };
      signal.addEventListener("abort", abandon);
      const done = () => signal.removeEventListener("abort", abandon);
      connected.finally(done).then((client) => (isAbandoned ? client.release() : resolve(client)), reject);
    }).catch(this.#unsent);
  }

  /** The pool's wait for a connection, which has an end whatever the pool says; the application's own waits are left alone. */
  #open(): ReturnType<PgPoolLike["connect"]> {
    const { options } = this.#pool;
    if (options === undefined || options.connectionTimeoutMillis) return this.#pool.connect();
    const before = options.connectionTimeoutMillis;
    options.connectionTimeoutMillis = CONNECT_MS; // the pool reads it before connect() returns
    try {
      return this.#pool.connect();
    } finally {
      options.connectionTimeoutMillis = before;
    }
  }

  /** Connections that are being opened. */
  #opening(): readonly PgClientLike[] {
    return ((this.#pool as PoolInside)._clients ?? []).filter((client) => client._connecting);
  }

  /** Gives up those of `clients` that are still not open. */
  #cutOff(clients: readonly PgClientLike[]): void {
    for (const client of this.#opening()) if (clients.includes(client)) destroy(client);
  }

  #suspect(beforeMs: number): void {
    suspectBeforeMs.set(this.#pool, Math.max(beforeMs, suspectBeforeMs.get(this.#pool) ?? 0));
  }
}

/** Ends the socket at once: a server that is away does not answer a goodbye. */
function destroy(client: PgClientLike): void {
  client.connection?.stream?.destroy?.();
}

/** Takes a connection out of its pool and ends its socket. */
export function giveUp(client: PgClientLike & { release(broken?: boolean): void }): void {
  destroy(client);
  client.release(true);
}

export function ignore(): void {}

/** A client that is shared with the application: calls queue up, and nobody else's connection is destroyed. */
export function borrowShared(client: PgClientLike, turn: ReturnType<typeof inTurn>): Borrow {
  return (use) => turn(() => use({ client, drop: ignore }));
}
