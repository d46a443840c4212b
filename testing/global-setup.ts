import { startPostgres } from "./postgres.ts";

/** One Postgres for the whole run. Set WADI_TEST_POSTGRES_URL to use a server that is already there. */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.WADI_TEST_POSTGRES_URL !== undefined) return undefined;
  const server = await startPostgres();
  process.env.WADI_TEST_POSTGRES_URL = server.url;
  return server.stop;
}
