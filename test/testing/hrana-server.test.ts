// The Hrana server that the tests of libSQL use.

import { type Client, createClient } from "@libsql/client";
import { afterEach, describe, expect, it } from "vitest";
import { startHranaServer } from "../../testing/hrana-server.ts";

let client: Client;
afterEach(() => client.close());

describe("the Hrana server of the tests", () => {
  it("takes a baton once, and a stream's stored SQL with it", async () => {
    const server = await startHranaServer({ authToken: "token" });
    const post = async (body: object, token = "token") => {
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(`${server.url}/v2/pipeline`, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      return { status: response.status, body: await response.text() };
    };
    client = createClient({ url: server.url, authToken: "token" });

    expect((await post({ requests: [] }, "wrong")).status).toBe(401);
    const first = await post({
      requests: [
        { type: "store_sql", sql_id: 1, sql: "select :n + 1 as m" },
        { type: "execute", stmt: { sql: "select * from missing" } },
        {
          type: "execute",
          stmt: { sql_id: 1, named_args: [{ name: ":n", value: { type: "integer", value: "41" } }] },
        },
        { type: "get_autocommit" },
      ],
    });
    const { baton, results } = JSON.parse(first.body);
    expect(results[1]).toMatchObject({ type: "error", error: { code: "SQLITE_UNKNOWN" } });
    expect(results[2].response.result.rows).toEqual([[{ type: "integer", value: "42" }]]);
    expect(results[3].response.is_autocommit).toBe(true);

    expect((await post({ baton, requests: [{ type: "execute", stmt: { sql_id: 1 } }] })).status).toBe(200);
    expect(await post({ baton, requests: [] })).toMatchObject({
      status: 400,
      body: "Received a reused baton",
    });
    expect((await post({ baton: "made.up.baton", requests: [] })).status).toBe(400);
    expect((await post({ requests: [{ type: "no such thing" }] })).status).toBe(400);
    expect((await post({ requests: [{ type: "execute", stmt: { sql_id: 7 } }] })).status).toBe(400);
    await server.stop();
  });

  it("hits the same requests for the same seed", async () => {
    const pattern = async (seed: number) => {
      const server = await startHranaServer({ seed, faults: { serverError: 0.3 } });
      client = createClient({ url: server.url });
      let hits = "";
      for (let n = 0; n < 30; n++)
        hits += await client.execute("select 1").then(
          () => ".",
          () => "x",
        );
      client.close();
      await server.stop();
      return hits;
    };
    const hits = await pattern(7);
    expect(hits).toContain("x");
    expect(hits).toContain(".");
    expect(await pattern(7)).toBe(hits);
    expect(await pattern(8)).not.toBe(hits);
  });
});
