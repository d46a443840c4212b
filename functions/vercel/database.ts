// Connects to the database that the environment names: Neon over HTTP, or Turso.

import type { Executor } from "../../src/driver.ts";
import { libsql } from "../../src/drivers/libsql.ts";
import { neonHttp } from "../../src/drivers/neon.ts";
import { HttpError } from "../../src/http/index.ts";
import { Wadi, type Wake, wakeByFetch } from "../../src/index.ts";

const HOW =
  "set DATABASE_URL to a Neon connection string (postgres://...), " +
  "or TURSO_DATABASE_URL (libsql://...) and TURSO_AUTH_TOKEN, in the project's environment variables";

let connected: Promise<Wadi> | undefined;

/**
 * The database the environment names. One for the life of the instance; the clients are stateless HTTP.
 *
 * @throws {HttpError} 500 `NOT_CONFIGURED`, which says what to set.
 */
export function connect(): Promise<Wadi> {
  connected ??= open(process.env).then(
    (executor) => new Wadi(executor, { wake: wakeOf(process.env) }),
    (error: unknown) => {
      connected = undefined;
      throw error;
    },
  );
  return connected;
}

/**
 * Kicks the function behind /api/cron of this deployment, in the `waitUntil` that Vercel provides. A preview whose
 * deployment protection refuses the request leaves its tasks to the next cron job.
 */
function wakeOf(env: NodeJS.ProcessEnv): Wake | undefined {
  const host = env.VERCEL_ENV === "production" ? env.VERCEL_PROJECT_PRODUCTION_URL : env.VERCEL_URL;
  if (!host || !env.WADI_SECRET) return undefined;
  return wakeByFetch(`https://${host}/api/cron`, env.WADI_SECRET);
}

/** Only the client that is needed is loaded: a cold start is part of the first answer. */
async function open(env: NodeJS.ProcessEnv): Promise<Executor> {
  const postgresUrl = env.DATABASE_URL;
  if (postgresUrl) {
    // The client accepts any text here and would try to connect at each query.
    const { protocol, hostname } = URL.parse(postgresUrl) ?? {};
    if (!/^postgres(ql)?:$/.test(protocol ?? "") || !hostname) {
      throw notConfigured("DATABASE_URL is not a postgres:// URL with a host");
    }
    const { neon } = await import("@neondatabase/serverless");
    return neonHttp(neon(postgresUrl));
  }
  const url = env.TURSO_DATABASE_URL || env.LIBSQL_URL;
  if (!url) throw notConfigured("no database is configured");
  const authToken = env.TURSO_AUTH_TOKEN || env.LIBSQL_AUTH_TOKEN;
  const { createClient } = await import("@libsql/client");
  try {
    return libsql(createClient({ url, ...(authToken ? { authToken } : {}) }));
  } catch {
    // The client's error message quotes the URL, which may hold a token.
    throw notConfigured("the libSQL client does not accept the URL of the database");
  }
}

function notConfigured(what: string): HttpError {
  return new HttpError(500, "NOT_CONFIGURED", `${what}; ${HOW}`);
}
