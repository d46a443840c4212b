import { neon } from "@neondatabase/serverless";
import { neonHttp as neonExecutor } from "../../src/drivers/neon.ts";
import { startNeonEndpoint } from "../neon-endpoint.ts";
import { createDatabase } from "../postgres.ts";
import type { Target } from "../target.ts";

/** The real Neon driver against a local SQL-over-HTTP endpoint; a round trip is a request. */
export const neonHttp: Target = {
  name: "neon-http",
  dialect: "postgres",
  async open() {
    const endpoint = await startNeonEndpoint({ postgresUrl: await createDatabase() });
    const connect = async () => neonExecutor(neon(endpoint.connectionString));
    return {
      executor: await connect(),
      connect,
      meter: () => ({
        roundTrips: endpoint.requests,
        statements: endpoint.statements,
        rowsRead: null,
        rowsWritten: null,
      }),
      close: endpoint.stop,
    };
  },
};
