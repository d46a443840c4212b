import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  describeStatement,
  executeBatch,
  executeStatement,
  type HranaBatch,
  HranaError,
  type HranaStmt,
} from "./hrana-engine.ts";
import { type Stream, StreamError, Streams } from "./hrana-streams.ts";

/** Which requests a fault hits: a fraction of them, drawn from the seed, or their numbers, counted from 1. */
export type Fault = number | readonly number[];

/** May be changed at any time; the first that hits a request decides. */
export interface HranaFaults {
  /** The connection is cut before anything runs. */
  dropBefore?: Fault;
  /** Everything runs and is committed, then the connection is cut. */
  dropAfter?: Fault;
  /** HTTP 500 with a text body; nothing runs. */
  serverError?: Fault;
  /** HTTP 401 with a body that is no Hrana error; nothing runs. */
  unauthorized?: Fault;
  /** HTTP 400 `STREAM_EXPIRED`; nothing runs. */
  streamExpired?: Fault;
}

export interface HranaServerOptions {
  faults?: HranaFaults;
  /** Seed of the faults given as a fraction. @default 1 */
  seed?: number;
  /** How long a stream outlives its last request. @default 10_000 */
  streamExpiryMs?: number;
  /** If set, every request must carry this bearer token. */
  authToken?: string;
}

export interface HranaServer {
  readonly url: string;
  /** HTTP requests so far, those that a fault hit included. */
  readonly requests: number;
  /** Statements executed so far, without those that only begin or end a transaction. */
  readonly statements: number;
  readonly faults: HranaFaults;
  stop(): Promise<void>;
}

interface PipelineRequest {
  type: string;
  stmt?: HranaStmt;
  batch?: HranaBatch;
  sql?: string | null;
  sql_id?: number | null;
}

/** A libSQL server as its HTTP client sees it: Hrana 2 as JSON over one fresh, empty database file. */
export async function startHranaServer(options: HranaServerOptions = {}): Promise<HranaServer> {
  const directory = mkdtempSync(join(tmpdir(), "wadi-hrana-"));
  const streams = new Streams(join(directory, "data.db"), options.streamExpiryMs ?? 10_000);
  const faults: HranaFaults = { ...options.faults };
  const random = seeded(options.seed ?? 1);
  let requests = 0;
  let statements = 0;

  const hits = (fault: Fault | undefined) =>
    typeof fault === "number" ? random() < fault : (fault?.includes(requests) ?? false);

  function execute(stream: Stream, stmt: HranaStmt) {
    const sql = sqlOf(stream, stmt);
    if (!/^\s*(begin|commit|rollback)\b/i.test(sql)) statements++;
    return streams.inTurn(stream, () => executeStatement(stream.db, sql, stmt));
  }

  async function answer(stream: Stream, request: PipelineRequest): Promise<object> {
    const { type } = request;
    if (stream.closed) throw new StreamError("The stream was closed by an earlier request");
    switch (type) {
      case "execute":
        return { type, result: await execute(stream, request.stmt!) };
      case "batch": {
        const isAutocommit = () => !stream.db.inTransaction;
        return {
          type,
          result: await executeBatch(request.batch!, (stmt) => execute(stream, stmt), isAutocommit),
        };
      }
      case "sequence":
        await streams.inTurn(stream, () => stream.db.exec(sqlOf(stream, request)));
        return { type };
      case "describe":
        return { type, result: describeStatement(stream.db, sqlOf(stream, request)) };
      case "store_sql":
        if (stream.sqls.has(request.sql_id!))
          throw new StreamError(`SQL text ${request.sql_id} exists already`);
        stream.sqls.set(request.sql_id!, request.sql!);
        return { type };
      case "close_sql":
        stream.sqls.delete(request.sql_id!);
        return { type };
      case "get_autocommit":
        return { type, is_autocommit: !stream.db.inTransaction };
      case "close":
        stream.closed = true;
        return { type };
      default:
        throw new StreamError(`unknown request type ${type}`);
    }
  }

  async function pipeline(body: string): Promise<object> {
    const { baton, requests: pending } = JSON.parse(body) as { baton?: string; requests: PipelineRequest[] };
    const stream = streams.acquire(baton);
    try {
      const results = [];
      for (const request of pending) results.push(await outcome(answer(stream, request)));
      return { baton: streams.release(stream), base_url: null, results };
    } catch (error) {
      streams.drop(stream);
      throw error;
    }
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    requests++;
    if (hits(faults.dropBefore)) return void request.socket.destroy();
    if (hits(faults.serverError)) return reply(response, 500, "internal server error");
    const { authToken } = options;
    const isForbidden = authToken !== undefined && request.headers.authorization !== `Bearer ${authToken}`;
    if (isForbidden || hits(faults.unauthorized)) return reply(response, 401, { error: "Unauthorized" });
    if (request.method !== "POST" || request.url !== "/v2/pipeline") return reply(response, 404, "");
    try {
      if (hits(faults.streamExpired)) {
        throw new StreamError("The stream has expired due to inactivity", "STREAM_EXPIRED");
      }
      const result = await pipeline(body);
      if (hits(faults.dropAfter)) return void request.socket.destroy();
      reply(response, 200, result);
    } catch (error) {
      const { message, code, status = 500 } = error as Partial<StreamError>;
      reply(response, status, code === undefined ? String(message) : { message, code });
    }
  }

  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get requests() {
      return requests;
    },
    get statements() {
      return statements;
    },
    faults,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      streams.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function sqlOf(stream: Stream, { sql, sql_id }: { sql?: string | null; sql_id?: number | null }): string {
  const text = sql ?? stream.sqls.get(sql_id!);
  if (text === undefined) throw new StreamError(`SQL text ${sql_id} was not found`);
  return text;
}

async function outcome(work: Promise<object>): Promise<object> {
  try {
    return { type: "ok", response: await work };
  } catch (error) {
    if (!(error instanceof HranaError)) throw error;
    return { type: "error", error: { message: error.message, code: error.code } };
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function reply(response: ServerResponse, status: number, body: object | string): void {
  const isText = typeof body === "string";
  response.writeHead(status, { "content-type": isText ? "text/plain" : "application/json" });
  response.end(isText ? body : JSON.stringify(body));
}

/** Mulberry32: the same faults for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
