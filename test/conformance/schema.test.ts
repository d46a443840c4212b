// The scenarios hold in a separate schema of Postgres, and nothing is written outside of it.

import { neon } from "@neondatabase/serverless";
import { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Executor } from "../../src/core/executor.ts";
import { neonHttp } from "../../src/drivers/neon.ts";
import { pg } from "../../src/drivers/pg.ts";
import { type Arena, openArena } from "../../testing/conformance/arena.ts";
import { loadScenarios, OWN_SCENARIOS } from "../../testing/conformance/scenario.ts";
import { startNeonEndpoint } from "../../testing/neon-endpoint.ts";
import { createDatabase } from "../../testing/postgres.ts";

/** A name that shows where one is not quoted, in identifiers or in strings. */
const SCHEMA = `Jobs'"ö`;
const scenarios = loadScenarios(OWN_SCENARIOS);

type Connect = (url: string) => Promise<{ executor: Executor; close(): Promise<void> }>;

const drivers: Record<string, Connect> = {
  async pg(url) {
    const pool = new Pool({ connectionString: url, max: 5 });
    return { executor: pg(pool, { schema: SCHEMA }), close: () => pool.end() };
  },
  async "neon-http"(url) {
    const endpoint = await startNeonEndpoint({ postgresUrl: url });
    const executor = neonHttp(neon(endpoint.connectionString), { schema: SCHEMA });
    return { executor, close: endpoint.stop };
  },
};

describe.each(Object.entries(drivers))("%s in a separate schema", (_, connect) => {
  let url: string;
  let arena: Arena;

  beforeAll(async () => {
    url = await createDatabase();
    arena = await openArena(await connect(url));
  });

  afterAll(() => arena?.close());

  it.each(scenarios)("$name", (scenario) => arena.run(scenario));

  it("leaves nothing outside of it", async () => {
    const pool = new Pool({ connectionString: url, max: 1 });
    const { rows } = await pool.query(`
      select distinct n.nspname as schema from (
        select relnamespace as schema from pg_class union select pronamespace from pg_proc
      ) o join pg_namespace n on n.oid = o.schema
      where n.nspname !~ '^(pg_|information_schema)'`);
    await pool.end();
    expect(rows).toEqual([{ schema: SCHEMA }]);
  });
});
