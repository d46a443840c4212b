import { InvalidArgument } from "../core/errors/wadi-error.ts";
import type { Executor, Limits, Row, Statement } from "../core/executor.ts";
import type { PgClientLike, PgPoolLike } from "./postgres/pg-client.ts";
import { type Borrow, borrowShared, giveUp, ignore, PgConnections } from "./postgres/pg-connections.ts";
import { pgDatabase } from "./postgres/pg-database-id.ts";
import { type Listen, type ListenClient, pgListener, shareOf } from "./postgres/pg-listener.ts";
import { forgetPrepared, PgPipeline, queryFor } from "./postgres/pg-pipeline.ts";
import { pgTransaction } from "./postgres/pg-transaction.ts";
import { type PgSchemaOption, protocolIn } from "./postgres/schema.ts";
import {
  causes,
  classifySqlState,
  endsConnection,
  failedToConnect,
  sqlStateOf,
} from "./postgres/sqlstate.ts";
import { checkClient, checkOptions } from "./shared/options.ts";
import { inTurn } from "./shared/serial-queue.ts";

export type { PgClientLike, PgNotification, PgPoolLike } from "./postgres/pg-client.ts";

export interface PgOptions extends PgSchemaOption {
  /**
   * Whether statements are prepared under a name once per connection. It turns itself off where names do not
   * last, as behind a transaction-mode pooler, at the cost of one statement sent twice. @default true
   */
  readonly prepare?: boolean | undefined;
  /**
   * Whether the executor may hold one connection for LISTEN. Turn it off behind a transaction-mode pooler,
   * which takes the command and never delivers. @default true for a pool of three or more, false for a client
   */
  readonly listen?: boolean | undefined;
}

const limits: Limits = {
  // Postgres takes 1 GB in a message and in a value, and 268 MB in the strings of one jsonb value.
  maxParamBytes: 100_000_000,
  maxBatchStatements: 10_000,
};

/** Locks taken by one statement must show the next one what was committed meanwhile, whatever the default is. */
const READ_COMMITTED: Statement = { sql: "set transaction_isolation = 'read committed'", params: [] };

/** No such prepared statement, one of that name exists already, its result has another shape now. */
const STALE_PLAN = ["26000", "42P05", "0A000"];

/** Whether `tx` is a client with a transaction block that goes on. Clients before node-pg 8.18 do not tell: theirs is taken for one. */
function isInTransaction(tx: unknown): tx is PgClientLike {
  const client = tx as PgClientLike | null | undefined;
  if (typeof client?.query !== "function" || "totalCount" in client) return false;
  const status = transactionStatus(client); // null of one that was never connected
  return status === undefined || status === "T";
}

/** `I` outside of a transaction, `T` in one, `E` in one that has failed. */
function transactionStatus(tx: unknown): string | null | undefined {
  const client = tx as { getTransactionStatus?: () => string | null } | null | undefined;
  return typeof client?.getTransactionStatus === "function" ? client.getTransactionStatus() : undefined;
}

/** node-pg has texts and no codes for a pool that was ended, and for a client that was ended or lost: it does not connect again. */
const POOL_ENDED = /after calling end on the pool/;
const CLIENT_ENDED = /not queryable/;

/** Whether nothing can be sent any more. A pool that has lost one of its clients opens another one. */
function isEnded(error: unknown, isPool: boolean): boolean {
  const text = isPool ? POOL_ENDED : CLIENT_ENDED;
  return causes(error).some(({ message }) => typeof message === "string" && text.test(message));
}

const guarded = new WeakSet<object>();
/** By pool: functions make an executor for each request, and each would take a connection of its own to listen. */
const listening = new WeakMap<object, Listen>();

/**
 * An executor over a node-pg `Pool` or `Client` (the JavaScript one, not pg-native), which stays yours to end.
 *
 * A run and a batch are one round trip each. With a pool every call takes a connection for its own time. A
 * client is shared: calls queue up, none interleave, and within a transaction you began they take part in it.
 * Errors of idle connections, which node-pg would end the process for, are left to the pool.
 */
export function pg(client: PgPoolLike | PgClientLike, options: PgOptions = {}): Executor<never, false> {
  checkClient("pg", client, "a Pool or a Client of node-pg", ["on"]);
  checkOptions("pg", options, { schema: null, prepare: "boolean", listen: "boolean" });
  const pool = "totalCount" in client ? client : undefined;
  const notSent = new WeakSet<object>();
  let prepare = options.prepare ?? true;
  const clientTurn = inTurn(); // node-pg 9 will have no queue of its own

  if (!guarded.has(client)) {
    guarded.add(client);
    client.on("error", ignore);
  }

  function unsent(error: unknown): never {
    if (typeof error === "object" && error !== null) notSent.add(error);
    throw error;
  }

  const connections = pool && new PgConnections(pool, unsent);
  const borrow: Borrow = connections?.borrow ?? borrowShared(client as PgClientLike, clientTurn);

  function pipeline(on: PgClientLike, statements: readonly Statement[], named: boolean): Promise<Row[][]> {
    return new Promise((resolve, reject) => {
      const query = new PgPipeline(statements, named, (error, results) => {
        if (error === null || error === undefined) return resolve(results!);
        if (!query.submitted && typeof error === "object") notSent.add(error);
        reject(error);
      });
      on.query(queryFor(on, query));
    });
  }

  async function send(on: PgClientLike, statements: readonly Statement[]): Promise<Row[][]> {
    const named = prepare;
    try {
      return await pipeline(on, statements, named);
    } catch (error) {
      const code = sqlStateOf(error) ?? "";
      if (!named || !STALE_PLAN.includes(code)) throw error;
      if (code === "0A000") forgetPrepared();
      else prepare = false;
      return await pipeline(on, statements, prepare); // nothing of the first try was committed
    }
  }

  function exchange(statements: readonly Statement[], signal?: AbortSignal): Promise<Row[][]> {
    return borrow(async ({ client: on, drop }) => {
      try {
        return await send(on, statements);
      } catch (error) {
        if (endsConnection(sqlStateOf(error))) drop();
        throw error;
      }
    }, signal);
  }

  const executor: Executor<never, false> = {
    name: "pg",
    dialect: "postgres",
    protocol: protocolIn(options.schema),
    limits,
    database: pgDatabase(client),
    run: async (statement, { signal } = {}) => (await exchange([statement], signal))[0]!,
    async batch(statements, { signal } = {}) {
      if (statements.length === 0) return [];
      return (await exchange([READ_COMMITTED, ...statements], signal)).slice(1);
    },
    within(tx) {
      if (transactionStatus(tx) === "E") {
        throw new InvalidArgument(
          "a statement of this transaction has failed; roll it back, and run all of it again",
        );
      }
      if (!isInTransaction(tx)) return null;
      // Nothing is prepared: a statement that had to be sent twice would find the transaction failed.
      return { isSync: false, batch: (statements) => pipeline(tx, statements, false) };
    },
    classify(error) {
      const code = sqlStateOf(error);
      if (causes(error).some((cause) => notSent.has(cause))) {
        if (/^(?:28|3D|42)/.test(code ?? "")) return "denied";
        return isEnded(error, pool !== undefined) ? "unusable" : "unavailable";
      }
      if (code !== undefined) return classifySqlState(code);
      return failedToConnect(error) ? "unavailable" : "unknown";
    },
    close: async () => listener.close(),
  };

  async function openListenClient(): Promise<ListenClient> {
    if (connections === undefined) {
      return { client: client as PgClientLike, turn: clientTurn, release: ignore, isEnding: () => false };
    }
    const borrowed = await connections.take();
    const release = (isBroken: boolean) => (isBroken ? giveUp(borrowed) : borrowed.release());
    return { client: borrowed, turn: inTurn(), release, isEnding: () => pool?.ending === true };
  }
  const listen =
    listening.get(client) ??
    pgListener(
      openListenClient,
      pool &&
        ((channel, payload, signal) =>
          exchange([{ sql: "select pg_notify($1, $2)", params: [channel, payload] }], signal)),
    );
  if (pool !== undefined) listening.set(pool, listen);
  const listener = shareOf(listen);
  // A connection that listens is one less for the work: a small pool keeps all of its own.
  const isSmall = pool === undefined || (pool.options?.max ?? 10) < 3;
  if (options.listen ?? !isSmall) executor.listen = listener.listen;

  // A shared client has none to offer: the calls of others would fall into it.
  if (pool !== undefined) {
    // A statement that has to be sent twice would find its transaction failed, so nothing in one is prepared.
    executor.transaction = (fn) =>
      borrow(({ client: on, drop }) =>
        pgTransaction(on, drop, executor, (statements) => pipeline(on, statements, false), fn),
      );
  }
  return executor;
}
