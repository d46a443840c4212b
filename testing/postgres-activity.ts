// Waits for, and ends, other sessions of the Postgres database to which a connection belongs.

import type { ClientBase, Pool } from "pg";
import { until } from "./until.ts";

/** Waits until a session waits for a lock. */
export function untilOneWaitsForALock(db: ClientBase | Pool): Promise<void> {
  const waiting = `select 1 from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  return until(async () => (await db.query(waiting)).rowCount === 1);
}

/** Ends the connections that listen for notifications. */
export async function endListeners(db: ClientBase | Pool): Promise<void> {
  await db.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query ilike '%listen%' and pid <> pg_backend_pid()`);
}
