import { SerialQueue } from "../shared/serial-queue.ts";
import type { PgClientLike, PgPoolClientLike, PgPoolLike } from "./pg-client.ts";
import { type BorrowedClient, ignore, type ListenClient, type PgConnections } from "./pg-connections.ts";
import type { UnsentErrors } from "./pg-errors.ts";
import { sqlStateOf } from "./sqlstate.ts";

/** Longest wait for a pool that has no `connectionTimeoutMillis` to lend or open a connection. */
const CONNECT_MS = 30_000;
/** A connection without an answer for this long may be half-open. If less, the caller was just in a hurry. */
const SILENT_MS = 800;
/** The same for opening a connection, which includes name resolution, TLS and the password. */
const OPENING_MS = 5000;
/** SQLSTATEs of a server that does not serve any more: now a standby, or shutting down. */
const MOVED = /^(?:25006|57P0[123])$/;

/**
 * Internals of a node-pg pool. If a version lacks them, connections that hang while they are opened are not cut off.
 */
interface PoolInternals {
  readonly _clients?: readonly (PgClientLike & { readonly _connecting?: boolean })[];
}

const watchedPools = new WeakSet<PgPoolLike>();
/** By a pool's client: when the server last answered on it. */
const answeredAtMs = new WeakMap<PgClientLike, number>();
/** By pool: connections whose last answer is older are not trusted. */
const suspectBeforeMs = new WeakMap<PgPoolLike, number>();

/**
 * Lends the connections of a pool, and drops those that are silent or lead to a server that does not serve any more.
 */
export class PgPoolConnections implements PgConnections {
  readonly #pool: PgPoolLike;
  readonly #unsent: UnsentErrors;

  constructor(pool: PgPoolLike, unsent: UnsentErrors) {
    this.#pool = pool;
    this.#unsent = unsent;
    if (watchedPools.has(pool)) return;
    watchedPools.add(pool);
    pool.on("connect", (client) => {
      answeredAtMs.set(client, performance.now());
      // The packet that opens a connection may also end it, before the borrower listens: that would end the process.
      client.on("error", ignore);
    });
  }

  async borrow<T>(use: (borrowed: BorrowedClient) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const client = await this.#take(signal);
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
      destroySocket(client);
    };
    client.on("error", ignore);
    signal?.addEventListener("abort", abandon);
    try {
      const result = await use({ client, drop });
      answeredAtMs.set(client, performance.now());
      return result;
    } catch (error) {
      const code = sqlStateOf(error);
      if (MOVED.test(code ?? "")) this.#suspect(performance.now());
      else if (code !== undefined) answeredAtMs.set(client, performance.now());
      throw error;
    } finally {
      signal?.removeEventListener("abort", abandon);
      if (isBroken) discard(client);
      else client.release();
      client.removeListener("error", ignore); // only now: from release on the pool listens again
    }
  }

  async takeToListen(): Promise<ListenClient> {
    const client = await this.#take();
    return {
      client,
      commands: new SerialQueue(),
      release: (isBroken) => (isBroken ? discard(client) : client.release()),
      isEnding: () => this.#pool.ending === true,
    };
  }

  /** A connection that is not suspect. Each suspect one is met once at most, because it is taken out of the pool. */
  async #take(signal?: AbortSignal): Promise<PgPoolClientLike> {
    for (;;) {
      const client = await this.#connect(signal);
      const trustedSinceMs = suspectBeforeMs.get(this.#pool) ?? 0;
      if ((answeredAtMs.get(client) ?? 0) >= trustedSinceMs) return client;
      discard(client);
    }
  }

  async #connect(signal?: AbortSignal): Promise<PgPoolClientLike> {
    signal?.throwIfAborted();
    try {
      return await (signal === undefined ? this.#open() : this.#openUntilAborted(signal));
    } catch (error) {
      this.#unsent.add(error);
      throw error;
    }
  }

  #openUntilAborted(signal: AbortSignal): Promise<PgPoolClientLike> {
    const startedAtMs = performance.now();
    const connected = this.#open();
    const opening = this.#opening();
    let isAbandoned = false;
    return new Promise((resolve, reject) => {
      const abandon = () => {
        isAbandoned = true;
        if (performance.now() - startedAtMs >= OPENING_MS) this.#cutOff(opening);
        reject(signal.reason);
      };
      signal.addEventListener("abort", abandon);
      const done = () => signal.removeEventListener("abort", abandon);
      connected.finally(done).then((client) => (isAbandoned ? client.release() : resolve(client)), reject);
    });
  }

  /** Waits for a connection, but not forever, even if the pool has no timeout. The application's waits keep theirs. */
  #open(): Promise<PgPoolClientLike> {
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
    return ((this.#pool as PoolInternals)._clients ?? []).filter((client) => client._connecting);
  }

  /** Destroys those of `clients` that are still being opened. */
  #cutOff(clients: readonly PgClientLike[]): void {
    for (const client of this.#opening()) if (clients.includes(client)) destroySocket(client);
  }

  #suspect(beforeMs: number): void {
    suspectBeforeMs.set(this.#pool, Math.max(beforeMs, suspectBeforeMs.get(this.#pool) ?? 0));
  }
}

/** Ends the socket immediately: a server that is away does not answer a goodbye. */
function destroySocket(client: PgClientLike): void {
  client.connection?.stream?.destroy?.();
}

/** Takes a connection out of its pool and ends its socket. */
function discard(client: PgPoolClientLike): void {
  destroySocket(client);
  client.release(true);
}
