/**
 * The driver for Postgres with node-pg, on Node.js and other platforms with TCP sockets. A pool has interactive
 * transactions and, with three connections or more, push with LISTEN. A single client has no interactive
 * transactions, and push only with `listen: true`.
 */

import { InvalidArgument } from "../core/errors/wadi-error.ts";
import type { Executor, Limits, Statement } from "../core/executor.ts";
import {
  isInTransaction,
  type PgClientLike,
  type PgPoolLike,
  transactionStatus,
} from "./postgres/pg-client.ts";
import { ignore, type PgConnections } from "./postgres/pg-connections.ts";
import { pgDatabaseId } from "./postgres/pg-database-id.ts";
import { classifyPg, UnsentErrors } from "./postgres/pg-errors.ts";
import { ListenerShare, PgListener } from "./postgres/pg-listener.ts";
import { PgPoolConnections } from "./postgres/pg-pool-connections.ts";
import { PgSender } from "./postgres/pg-sender.ts";
import { PgSharedClient } from "./postgres/pg-shared-client.ts";
import { type PgSchemaOption, protocolIn } from "./postgres/schema.ts";
import { checkClient, checkOptions } from "./shared/check-arguments.ts";

export type {
  PgClientLike,
  PgConnectionLike,
  PgNotification,
  PgPoolClientLike,
  PgPoolLike,
} from "./postgres/pg-client.ts";
export type { PgSchemaOption } from "./postgres/schema.ts";

/** How the driver uses the pool or the client. */
export interface PgOptions extends PgSchemaOption {
  /**
   * Whether statements are prepared under a name, once per connection. It turns itself off where names do not
   * last, as behind a transaction-mode pooler, at the cost of one statement sent twice. @default true
   */
  readonly prepare?: boolean | undefined;
  /**
   * Whether the executor may hold one connection for LISTEN. Turn it off behind a transaction-mode pooler,
   * which accepts the command and never delivers. @default true for a pool of three or more, false for a client
   */
  readonly listen?: boolean | undefined;
}

const LIMITS: Limits = {
  // Postgres takes 1 GB in a message and in a value, and 268 MB in the strings of one jsonb value.
  maxParamBytes: 100_000_000,
  maxBatchStatements: 10_000,
};

/**
 * After one statement waited for a lock, the next must see what was committed meanwhile, whatever the default level
 * is.
 */
const READ_COMMITTED: Statement = { sql: "set transaction_isolation = 'read committed'", params: [] };

/** Clients that have the listener of `ignore`: an executor may be made for each request. */
const guardedClients = new WeakSet<object>();
/** By pool: an executor may be made for each request, and each would hold a connection to listen. */
const listeners = new WeakMap<object, PgListener>();

/**
 * An executor over a node-pg `Pool` or `Client` (the JavaScript one, not pg-native), which the application ends.
 *
 * A run and a batch are one round trip each. With a pool, every call borrows a connection. A client is shared: calls
 * queue up, none interleave, and within a transaction you began they take part in it. Errors of idle connections, for
 * which node-pg would end the process, are ignored: the pool replaces the connection.
 *
 * @example
 * ```ts
 * import { Pool } from "pg";
 * import { Wadi } from "wadi";
 * import { pg } from "wadi/pg";
 *
 * const wadi = new Wadi(pg(new Pool({ connectionString: env.DATABASE_URL! })));
 * ```
 */
export function pg(client: PgPoolLike | PgClientLike, options: PgOptions = {}): Executor<never, false> {
  checkClient("pg", client, "a Pool or a Client of node-pg", ["on"]);
  checkOptions("pg", options, { schema: null, prepare: "boolean", listen: "boolean" });
  if (!guardedClients.has(client)) {
    guardedClients.add(client);
    client.on("error", ignore);
  }
  const pool = "totalCount" in client ? client : undefined;
  const unsent = new UnsentErrors();
  const connections = pool ? new PgPoolConnections(pool, unsent) : new PgSharedClient(client as PgClientLike);
  const sender = new PgSender(connections, unsent, options.prepare ?? true);
  const listener = new ListenerShare(
    pool ? poolListener(pool, connections, sender) : clientListener(connections),
  );
  // A listening connection is one less for the work, which a small pool cannot spare.
  const listensByDefault = pool !== undefined && (pool.options?.max ?? 10) >= 3;
  const traits = {
    name: "pg",
    dialect: "postgres",
    protocol: protocolIn(options.schema),
    limits: LIMITS,
    classify: (error: unknown) => classifyPg(error, unsent, pool !== undefined),
  } as const;
  return {
    ...traits,
    database: pgDatabaseId(client),
    run: async (statement, { signal } = {}) => (await sender.send([statement], signal))[0]!,
    async batch(statements, { signal } = {}) {
      if (statements.length === 0) return [];
      return (await sender.send([READ_COMMITTED, ...statements], signal)).slice(1);
    },
    within(tx) {
      if (transactionStatus(tx) === "E") {
        throw new InvalidArgument(
          "a statement of this transaction has failed; roll it back, and run all of it again",
        );
      }
      if (!isInTransaction(tx)) return null;
      return { isSync: false, batch: (statements) => sender.sendUnprepared(tx, statements) };
    },
    ...((options.listen ?? listensByDefault) && { listen: listener.listen }),
    // A shared client has none to offer: the application's calls would become a part of it.
    ...(pool && { transaction: (fn) => sender.transaction(traits, fn) }),
    close: async () => listener.close(),
  };
}

function clientListener(connections: PgConnections): PgListener {
  return new PgListener(() => connections.takeToListen(), undefined);
}

function poolListener(pool: PgPoolLike, connections: PgConnections, sender: PgSender): PgListener {
  let listener = listeners.get(pool);
  if (listener === undefined) {
    listener = new PgListener(
      () => connections.takeToListen(),
      (channel, payload, signal) =>
        sender.send([{ sql: "select pg_notify($1, $2)", params: [channel, payload] }], signal),
    );
    listeners.set(pool, listener);
  }
  return listener;
}
