// An HTTP endpoint that answers as Neon's SQL over HTTP does, in front of a real Postgres server.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { neonConfig } from "@neondatabase/serverless";
import pg from "pg";
import type { Fault, FaultPlan } from "./neon-faults.ts";
import {
  Answer,
  checkConnectionString,
  errorBody,
  MAX_BYTES,
  parseBody,
  type Query,
  readBody,
  startTransaction,
} from "./neon-protocol.ts";

export interface NeonEndpoint {
  /** For `neon(connectionString)`: names this endpoint as its host, so that several can coexist. */
  connectionString: string;
  fetchEndpoint: string;
  /** Requests and statements received so far. */
  readonly requests: number;
  readonly statements: number;
  /** The faults, from the next request on. */
  faults: { plan: FaultPlan | undefined };
  stop(): Promise<void>;
}

const AS_TEXT = { getTypeParser: () => (cell: string) => cell } as unknown as pg.CustomTypesConfig;

/** The real driver asks `api.<host>` over https; here the host and port of the connection string are the endpoint. */
export function routeNeonDriver(): void {
  neonConfig.fetchEndpoint = (host, port) => `http://${host}:${port}/sql`;
}

/** Neon's SQL-over-HTTP proxy in front of a real Postgres, and ways to make it fail. */
export async function startNeonEndpoint({ postgresUrl }: { postgresUrl: string }): Promise<NeonEndpoint> {
  routeNeonDriver();
  const database = new URL(postgresUrl);
  const pool = new pg.Pool({ connectionString: postgresUrl, max: 20 });
  pool.on("error", () => {});
  const faults: NeonEndpoint["faults"] = { plan: undefined };
  let requests = 0;
  let statements = 0;

  const server = createServer(async (request, response) => {
    if (request.method !== "POST" || request.url !== "/sql")
      return send(response, 400, errorBody("invalid route"));
    requests++;
    const fault = faults.plan?.(requests);
    try {
      const body = await readBody(request);
      if (fault?.when === "before") return fail(response, fault);
      checkConnectionString(request, database);
      const answer = JSON.stringify(await execute(request, body));
      if (fault?.when === "after") return fail(response, fault);
      send(response, 200, answer);
    } catch (error) {
      if (error instanceof Answer) send(response, error.status, error.body);
      else send(response, 400, errorBody((error as Error).message, error as Record<string, unknown>));
    }
  });

  async function execute(request: IncomingMessage, body: string): Promise<unknown> {
    const payload = parseBody(body);
    const batch = "queries" in payload;
    const queries = batch ? payload.queries : [payload];
    statements += queries.length;
    const begin = batch ? startTransaction(request) : undefined;
    const client = await connect(pool);
    let broken = false;
    const onError = () => {
      broken = true;
    };
    client.on("error", onError);
    try {
      if (begin !== undefined) await client.query(begin);
      const results: unknown[] = [];
      let bytes = 0;
      for (const query of queries) {
        const result = await runQuery(client, query);
        bytes += JSON.stringify(result).length;
        if (bytes > MAX_BYTES) throw new Answer(507, "response is too large (max is 10485760 bytes)");
        results.push(result);
      }
      if (begin !== undefined) await client.query("commit");
      return batch ? { results } : results[0];
    } catch (error) {
      if (begin !== undefined) await client.query("rollback").catch(onError);
      throw error;
    } finally {
      // A session is cleared before another request gets it.
      if (!broken) await client.query("discard all").catch(onError);
      client.release(broken);
      client.removeListener("error", onError);
    }
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const own = new URL(postgresUrl);
  own.port = String(port);
  return {
    connectionString: own.href,
    fetchEndpoint: `http://127.0.0.1:${port}/sql`,
    get requests() {
      return requests;
    },
    get statements() {
      return statements;
    },
    faults,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await pool.end();
    },
  };
}

async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    if ((error as { severity?: string }).severity !== undefined) throw error;
    throw new Answer(500, "could not connect to compute");
  }
}

/** As Neon's proxy does: extended protocol, without names and types, with text in both directions. */
async function runQuery(client: pg.PoolClient, { query, params = [] }: Query): Promise<unknown> {
  const config = { text: query, values: params, rowMode: "array", types: AS_TEXT, queryMode: "extended" };
  const result = await client.query(config as unknown as pg.QueryArrayConfig);
  const fields = result.fields.map((field) => ({ ...field, format: "text" }));
  return { fields, rows: result.rows, command: result.command, rowCount: result.rowCount, rowAsArray: true };
}

function fail(response: ServerResponse, { answer }: Fault): void {
  if (answer === "drop") response.socket?.destroy();
  else
    send(
      response,
      answer.status,
      answer.body ?? (answer.status === 400 ? errorBody("connection lost") : "failed"),
    );
}

function send(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { "content-type": "application/json", "access-control-allow-origin": "*" });
  response.end(body);
}
