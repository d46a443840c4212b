// One answer in ten is lost after its commit.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Wadi } from "../../src/index.ts";
import { startHranaServer } from "../../testing/hrana-server.ts";
import { startNeonEndpoint } from "../../testing/neon-endpoint.ts";
import { fraction } from "../../testing/neon-faults.ts";
import { createDatabase } from "../../testing/postgres.ts";
import { findFaults, query, readMoves, startAudit } from "../../testing/races/audit.ts";
import { addressed, type RaceDatabase } from "../../testing/races/databases.ts";
import { type JobArgs, type JobName, type JobResult, runJob } from "../../testing/races/jobs.ts";
import { checkKeys } from "../../testing/races/keyed-answers.ts";

const SHARE = 0.1;
const SEED = 7;
const POLICIES = ["reuse", "reuse-succeeded", "reject", "replace"] as const;
/** Enough tries that one in ten lost never ends them, and no long waits between. */
const RETRY = { tries: 15, baseMs: 1, capMs: 4 };

/** A server that can lose answers after the work is committed. */
interface LossyServer {
  readonly database: RaceDatabase;
  /** Loses this share of the answers from now on. */
  lose(share: number): void;
  requests(): number;
}

const servers: Record<string, () => Promise<LossyServer>> = {
  async "neon-http"() {
    const endpoint = await startNeonEndpoint({ postgresUrl: await createDatabase() });
    return {
      database: addressed({ target: "neon-http", url: endpoint.connectionString }, endpoint.stop),
      lose(share) {
        endpoint.faults.plan = fraction(share, SEED, { when: "after", answer: "drop" });
      },
      requests: () => endpoint.requests,
    };
  },
  async "libsql-http"() {
    const server = await startHranaServer({ seed: SEED });
    return {
      database: addressed({ target: "libsql-http", url: server.url }, server.stop),
      lose(share) {
        server.faults.dropAfter = share;
      },
      requests: () => server.requests,
    };
  },
};

describe.each(Object.keys(servers))("one answer in ten is lost after the commit, %s", (target) => {
  let server: LossyServer;
  let reader: Wadi;

  beforeEach(async () => {
    server = await servers[target]!();
    reader = await server.database.connect();
    await startAudit(reader);
  });

  afterEach(() => server.database.close());

  /** Runs a job on `count` clients at once while answers are lost. Any error of a caller fails the test. */
  async function race<Name extends JobName>(
    count: number,
    job: Name,
    args: (index: number) => JobArgs<Name>,
  ) {
    const clients = await Promise.all(
      Array.from({ length: count }, () => server.database.connect({ requestRetry: RETRY })),
    );
    server.lose(SHARE);
    const results = await Promise.all(clients.map((wadi, index) => runJob(wadi, job, args(index))));
    server.lose(0);
    return results as JobResult<Name>[];
  }

  test("1,000 submits make 1,000 tasks, each run and settled once", { timeout: 60_000 }, async () => {
    const before = server.requests();
    const ids = (await race(10, "submit", () => ({ tasks: 100 }))).flat().sort();
    const requests = server.requests() - before;
    expect(requests).toBeGreaterThan(1000 + (1000 * SHARE) / 2);
    expect(new Set(ids).size).toBe(1000);
    const stored = await query(reader, "select id from cairnq_tasks order by id");
    expect(stored.map(({ id }) => id)).toEqual(ids);

    const drained = await race(4, "drain", () => ({ concurrency: 4, startAtMs: Date.now() }));
    const sent = server.requests() - before - requests;
    const summaries = drained.flatMap((worker) => worker.summaries);
    expect(sent).toBeGreaterThan(summaries.reduce((sum, { roundTrips }) => sum + roundTrips, 0));
    expect(drained.flatMap((worker) => worker.runs).sort()).toEqual(ids);
    const moves = await readMoves(reader);
    expect(findFaults(moves, ids)).toEqual([]);
    expect(moves).toHaveLength(2 * ids.length);
    expect(summaries.reduce((sum, { succeeded }) => sum + succeeded, 0)).toBe(1000);
    expect(summaries.reduce((sum, { lost }) => sum + lost, 0)).toBe(0);
  });

  test("1,000 submits with a key each make 1,000 tasks, on every policy", { timeout: 60_000 }, async () => {
    for (const conflict of POLICIES) {
      const answers = await race(10, "submitKeys", (index) => ({
        name: conflict,
        keys: Array.from({ length: 25 }, (_, n) => `${conflict}-${index}-${n}`),
        conflict,
      }));
      expect(new Set(answers.flat().map(({ outcome }) => outcome))).toEqual(new Set(["created"]));
    }
    const stored = await query(reader, "select id from cairnq_tasks where status = 'queued'");
    expect(stored).toHaveLength(1000);
    expect(await readMoves(reader)).toEqual([]);
  });

  test.each(POLICIES)("four clients race for each key, %s", { timeout: 60_000 }, async (conflict) => {
    const keys = Array.from({ length: 60 }, (_, n) => `${conflict}-${n}`);
    const answers = await race(4, "submitKeys", () => ({ name: conflict, keys, conflict }));
    await checkKeys(reader, { name: conflict, conflict, keys, answers });
  });
});
