// A submit sends its payload once.

import { neon } from "@neondatabase/serverless";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Executor, Statement } from "../../../src/core/executor.ts";
import { neonHttp } from "../../../src/drivers/neon.ts";
import { type SubmitOptions, Wadi } from "../../../src/index.ts";
import { memoryWadi } from "../../../testing/memory.ts";
import { startNeonEndpoint } from "../../../testing/neon-endpoint.ts";
import { createDatabase } from "../../../testing/postgres.ts";
import { storeOf } from "../../../testing/store.ts";
import type { OpenTarget } from "../../../testing/target.ts";
import { pickTargets } from "../../../testing/targets.ts";

const PACES: readonly SubmitOptions[] = [
  ...(["reuse", "reuse-succeeded", "reject", "replace"] as const).map((conflict) => ({ conflict })),
  { debounce: { delayMs: 10 } },
  { throttle: { perMs: 10 } },
];

/** Values whose JSON text cannot be distinguished from an SQL value, and others. */
const VALUES = [
  ...["", "5", "null", '{"a":1}', 'a"\\/', "\u2028", "é😀", "C:\\users\\u0041", "\n\u0001"],
  ...[0, -1, 2 ** 53, 1e18, 2 ** 63, 1e21, 0.5, 0.1 + 0.2, 5e-324, 1.7976931348623157e308],
  ...[true, false, null, [], {}, [[1]], [null], { "": 1 }, { a: ["\\u0041"] }],
];

describe.each(pickTargets(["better-sqlite3-file", "libsql-http", "d1", "pg", "neon-http"]))(
  "a submit on $name",
  ({ open }) => {
    let target: OpenTarget;
    let sent: Statement[] = [];
    let wadi: Wadi;

    beforeAll(async () => {
      target = await open();
      const { executor } = target;
      const spy: Executor = {
        ...executor,
        run: (statement) => {
          sent.push(statement);
          return executor.run(statement);
        },
        batch: (statements, options) => {
          sent.push(...statements);
          return executor.batch(statements, options);
        },
      };
      wadi = new Wadi(spy);
      await wadi.migrate();
    });

    afterAll(() => target.close());

    test.each(PACES)("with a key carries its payload once: %o", async (pace) => {
      const key = JSON.stringify(pace);
      for (const payload of ["payload one", "payload two", "payload three"]) {
        sent = [];
        await wadi.submit("a", payload, { key, ...pace }).catch(() => {});
        await wadi.submitMany("a", [{ payload, key, ...pace }]);
        const carriers = sent.flatMap(({ params }) =>
          params.filter((param) => String(param).includes(payload)),
        );
        expect(carriers).toHaveLength(2);
      }
    });

    test("of many keeps every value as it is", async () => {
      const plain = await wadi.submitMany(
        "many",
        VALUES.map((payload) => ({ payload })),
      );
      const keyed = await wadi.submitMany(
        "many",
        VALUES.map((payload, i) => ({ payload, key: `value:${i}` })),
      );
      const stored = await storeOf(wadi).getMany([...plain, ...keyed].map(({ id }) => id));
      expect(stored.map(({ payload }) => payload)).toEqual([...VALUES, ...VALUES]);
    });
  },
);

describe("on Neon, whose requests end at 10 MiB", () => {
  let endpoint: Awaited<ReturnType<typeof startNeonEndpoint>>;
  let wadi: Wadi;

  beforeAll(async () => {
    endpoint = await startNeonEndpoint({ postgresUrl: await createDatabase() });
    wadi = new Wadi(neonHttp(neon(endpoint.connectionString)));
    await wadi.migrate();
  });

  afterAll(() => endpoint.stop());

  test("a payload of 3.7 MB is replaced", async () => {
    const first = await wadi.submit("a", "x".repeat(3_700_000), { key: "large", conflict: "replace" });
    const next = await wadi.submit("a", "y".repeat(3_700_000), { key: "large", conflict: "replace" });
    expect(next.outcome).toBe("created");
    expect(await wadi.getStatus(first.id)).toMatchObject({ status: "canceled" });
  });

  test("a payload that is all escapes arrives", async () => {
    const { id } = await wadi.submit("a", '"'.repeat(1_990_000), { key: "quotes", conflict: "replace" });
    expect(await wadi.getStatus(id)).toMatchObject({ status: "queued" });
  });

  test("many are split by what is really sent", async () => {
    for (const key of ["", "k"]) {
      const before = endpoint.requests;
      const entries = Array.from({ length: 12 }, (_, i) => ({
        payload: '"'.repeat(450_000),
        ...(key && { key: `${key}${i}`, conflict: "replace" as const }),
      }));
      expect(await wadi.submitMany("b", entries)).toHaveLength(12);
      expect(endpoint.requests - before).toBeLessThanOrEqual(4);
    }
  });

  test("keys whose tasks are too large for one answer get them all", async () => {
    const keys = ["held:1", "held:2", "held:3", "held:4"];
    for (const key of keys) await wadi.submit("held", key.repeat(500_000), { key });
    const expected = keys.map((key) => ({ outcome: "reused", payload: key.repeat(500_000) }));
    const entries = keys.map((key) => ({ payload: 1, key }));
    expect(await wadi.submitMany("held", entries)).toMatchObject(expected);
    const submits = keys.map((key) => wadi.submit("held", 1, { key }));
    expect(await Promise.all(submits)).toMatchObject(expected);
  });

  test("payload and metadata are bounded together", async () => {
    const text = "x".repeat(2_500_000);
    await expect(wadi.submit("a", text, { metadata: { text } })).rejects.toMatchObject({
      name: "InvalidArgument",
      message: expect.stringContaining("payload and metadata"),
    });
  });
});

test("submitMany on SQLite takes time in proportion to its texts, whatever they hold", async () => {
  const wadi = memoryWadi();
  await wadi.migrate();
  const cpuOf = async (make: (i: number) => unknown): Promise<number> => {
    const entries = Array.from({ length: 20_000 }, (_, i) => ({ payload: make(i) }));
    const before = process.cpuUsage();
    await wadi.submitMany("a", entries);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  const base = Math.max(await cpuOf((i) => ({ i })), await cpuOf((i) => i));
  // Ten times and more where each payload reads what stands before it.
  for (const make of [
    (i: number) => `C:\\users\\${i}`,
    (i: number) => i + 0.5,
    (i: number) => `\u0001${i}`,
    (i: number) => [i + 0.5],
  ]) {
    expect(await cpuOf(make)).toBeLessThan(5 * base + 100_000);
  }
});
