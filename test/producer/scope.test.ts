// A client of another scope than the database's submits and reads, and runs, recovers and deletes nothing.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Executor } from "../../src/driver.ts";
import { Wadi, type WadiOptions, Worker } from "../../src/index.ts";
import { openFixture } from "../../testing/http-fixture.ts";
import { storeOf } from "../../testing/store.ts";
import type { OpenTarget } from "../../testing/target.ts";
import { pickTargets } from "../../testing/targets.ts";

const LANES = [{ queue: "default", name: "a", quota: 9 }];
const REFUSED = { name: "ScopeMismatch", code: "SCOPE_MISMATCH", retryable: false };
const claim = (workerId: string, lanes = LANES) => ({
  pools: [{ lanes, limit: 9 }],
  workerId,
  leaseMs: 60_000,
  limited: false,
});
const failure = { type: "E", code: "e", message: "m", retryable: true, details: {} };

interface Ids {
  readonly held: string;
  readonly done: string;
}

/** Each operation, and what a client of another scope gets. `held` runs under `w:1`, `done` has ended. */
const OPERATIONS: readonly (readonly [
  what: string,
  answer: "allowed" | "refused",
  (wadi: Wadi, ids: Ids) => Promise<unknown>,
])[] = [
  ["submit", "allowed", (w) => w.submit("a", 1)],
  ["submit with limits", "allowed", (w) => w.submit("a", 1, { limits: { key: "k", concurrency: 1 } })],
  ["submitMany", "allowed", (w) => w.submitMany("a", [{ payload: 1 }, { payload: 2 }])],
  ["submit with a key", "allowed", (w) => w.submit("a", 1, { key: "k" })],
  ["submit that replaces", "allowed", (w) => w.submit("a", 2, { key: "k", conflict: "replace" })],
  ["submit that debounces", "allowed", (w) => w.submit("a", 3, { key: "k", debounce: { delayMs: 1 } })],
  ["get", "allowed", (w, { held }) => w.get(held)],
  ["getByKey", "allowed", (w) => w.getByKey("k")],
  ["getStatus", "allowed", (w, { held }) => w.getStatus(held)],
  ["failures", "allowed", (w, { done }) => w.failures(done)],
  ["list", "allowed", (w) => w.list()],
  ["stats", "allowed", (w) => w.stats()],
  ["queueDepth", "allowed", (w) => w.queueDepth("default")],
  ["wait", "allowed", (w, { done }) => w.wait(done)],
  ["retry", "allowed", (w, { done }) => w.retry(done)],
  ["cancel", "allowed", (w, { done }) => w.cancel(done)],
  // SQLite does not evaluate the guard of a recovery where no task is running, and then nothing is written.
  ["recovery", "refused", (w) => storeOf(w).claim({ ...claim("w:2"), pools: [{ lanes: LANES, limit: 0 }] })],
  // Of a task that was claimed before the scope changed: its handler has done the work.
  ["heartbeat", "allowed", (w, { held }) => storeOf(w).heartbeat([{ id: held, workerId: "w:1" }], 60_000)],
  [
    "progress",
    "allowed",
    (w, { held }) => storeOf(w).progress({ id: held, workerId: "w:1" }, { progress: 0.5, message: null }),
  ],
  [
    "settle",
    "allowed",
    (w, { held }) =>
      storeOf(w).settle([
        { id: held, workerId: "w:1", attempt: 1, outcome: "retry", error: failure, delayMs: 0 },
      ]),
  ],
  ["claim", "refused", (w) => storeOf(w).claim(claim("w:2"))],
  ["claim of nothing", "refused", (w) => storeOf(w).claim(claim("w:2", [{ ...LANES[0]!, name: "none" }]))],
  ["limited claim", "refused", (w) => storeOf(w).claim({ ...claim("w:2"), limited: true })],
  ["claim without recovery", "refused", (w) => storeOf(w).claim({ ...claim("w:2"), claimOnly: true })],
  ["settle and claim", "refused", (w) => storeOf(w).settleAndClaim([], claim("w:2"))],
  ["drain", "refused", (w) => new Worker(w).task("a", () => 1).drain()],
  ["run", "refused", (w) => new Worker(w).task("a", () => 1).run()],
  ["purge", "refused", (w) => w.purge({ olderThanMs: 0 })],
  ["purge of nothing", "refused", (w) => w.purge({ olderThanMs: 0, queue: "none", status: "failed" })],
  ["purgeMany", "refused", (w) => w.purgeMany({ status: "canceled" })],
  ["cancelMany", "allowed", (w) => w.cancelMany({ name: "none" })],
  ["retryMany", "allowed", (w) => w.retryMany({ name: "none" })],
  ["sweep", "refused", (w) => w.sweep([{ olderThanMs: 3_600_000 }])],
];

describe.each(pickTargets())("on $name", (target) => {
  let open: OpenTarget;
  let production: Wadi;
  let preview: Wadi;

  beforeEach(async () => {
    open = await target.open();
    production = new Wadi(open.executor, { scope: "production" });
    preview = new Wadi(await open.connect(), { scope: "preview" });
  });

  afterEach(async () => {
    await preview.close();
    await open.close();
  });

  const run = (sql: string, executor: Executor = open.executor) => executor.run({ sql, params: [] });
  const scope = async () =>
    (await run("select value from cairnq_meta where key = 'wadi_scope'"))[0]?.value ?? null;

  test("each operation is allowed or refused, with an error that names both scopes and the ways out", async () => {
    const done = await production.submit("done", 1);
    await production.cancel(done.id);
    const held = await production.submit("a", 1);
    await storeOf(production).claim(claim("w:1"));
    expect(await scope()).toBe("production");
    const unscoped = new Wadi(preview.executor);
    for (const [what, answer, send] of OPERATIONS) {
      for (const client of [preview, unscoped]) {
        const before = await run("select id, status from cairnq_tasks order by id");
        const sent = send(client, { held: held.id, done: done.id });
        if (answer === "allowed") {
          await expect(sent, what).resolves.not.toThrow();
          continue;
        }
        const ways =
          client === preview ? ["preview", "clear()", "adopt()"] : ["scope:", "clear()", "adopt()"];
        const message = new RegExp(
          `"production".*${ways.map((way) => way.replace("()", "\\(\\)")).join(".*")}`,
        );
        await expect(sent, `${what} ${client === preview}`).rejects.toMatchObject({
          ...REFUSED,
          message: expect.stringMatching(message),
          databaseScope: "production",
          scope: client === preview ? "preview" : null,
        });
        expect(await run("select id, status from cairnq_tasks order by id"), what).toEqual(before);
      }
    }
  });

  test("in a branch nothing runs until clear() deletes the due tasks, in pages, or adopt() takes them", async () => {
    await production.submitMany(
      "a",
      Array.from({ length: 1_000 }, (_, payload) => ({ payload, key: `k${payload}` })),
    );
    await production.pause({ queue: "default" });
    await production.schedules.set({ name: "s", everyMs: 60_000, task: "a", payload: 1 });
    const kept = await production.submit("b", 1);
    await production.cancel(kept.id);
    await new Worker(production).task("other", () => 1).drain();
    const worker = new Worker(preview).task("a", () => 1);
    await expect(worker.drain()).rejects.toMatchObject(REFUSED);
    expect(await preview.clear({ pageSize: 300 })).toEqual({ deleted: 1_000 });
    expect(await scope()).toBe("preview");
    expect(await worker.drain()).toMatchObject({ claimed: 0 });
    expect(await preview.get(kept.id)).toMatchObject({ status: "canceled" });
    await preview.submit("a", 1, { key: "k1" });
    expect(await preview.clear()).toEqual({ deleted: 0 }); // a later deployment deletes nothing
    expect(await worker.drain()).toMatchObject({ claimed: 1 });
    await expect(storeOf(production).claim(claim("w:2"))).rejects.toMatchObject(REFUSED);
    await production.submit("a", 1);
    await production.adopt();
    await expect(worker.drain()).rejects.toMatchObject({ ...REFUSED, databaseScope: "production" });
    expect(await new Worker(production).task("a", () => 1).drain()).toMatchObject({ succeeded: 1 });
  });

  test("only production stores its scope by a request; migrate and adopt store any", async () => {
    await preview.submit("a", 1);
    expect(await new Worker(preview).task("a", () => 1).drain()).toMatchObject({ succeeded: 1 });
    expect(await scope()).toBeNull();
    await expect(preview.clear()).rejects.toMatchObject({ ...REFUSED, databaseScope: null });
    await preview.migrate();
    expect(await scope()).toBe("preview");
    await expect(new Worker(production).task("a", () => 1).drain()).rejects.toMatchObject(REFUSED);
    await production.migrate();
    expect(await scope()).toBe("preview");
    await production.adopt();
    expect(await scope()).toBe("production");
  });

  test("a claim sends no more statements, and two more round trips when it stores the scope", async () => {
    await production.migrate();
    const costOf = async (client: Wadi) => {
      const { roundTrips, statements } = open.meter();
      await storeOf(client).claim(claim("w:1"));
      return [open.meter().roundTrips - roundTrips, open.meter().statements - statements];
    };
    const scoped = await costOf(production);
    await run("delete from cairnq_meta where key = 'wadi_scope'");
    expect(await costOf(new Wadi(open.executor))).toEqual(scoped);
    const [roundTrips] = scoped;
    const [storing] = await costOf(new Wadi(open.executor, { scope: "production" }));
    expect(storing! - roundTrips!).toBeLessThanOrEqual(2); // some engines count no refused request
    expect(await scope()).toBe("production");
  });
});

test("a submit of another scope sends no kick", async () => {
  const open = await pickTargets(["better-sqlite3-memory"])[0]!.open();
  await new Wadi(open.executor, { scope: "production" }).migrate();
  const kicked: unknown[] = [];
  for (const scope of ["preview", "production"]) {
    const wadi = new Wadi(open.executor, { scope, wake: () => void kicked.push(scope) });
    await wadi.submit("a", 1);
    await new Promise(setImmediate);
  }
  expect(kicked).toEqual(["production"]);
  await open.close();
});

test("the HTTP drain route says why nothing runs", async () => {
  const open = await pickTargets(["better-sqlite3-memory"])[0]!.open();
  await new Wadi(open.executor, { scope: "production" }).migrate();
  const { call } = openFixture({ executor: open.executor });
  const { status, body } = await call("POST", "/drain");
  expect([status, body.error.code, body.error.retryable]).toEqual([409, "SCOPE_MISMATCH", false]);
  expect(body.error.message).toMatch(/"production".*adopt\(\)/);
  await open.close();
});

describe("the option", () => {
  const executor = { protocol: {}, name: "none", dialect: "sqlite", limits: {} } as unknown as Executor;
  const made = (options?: WadiOptions) => () => new Wadi(executor, options);

  test.each(["", "a b", "a\n", "x".repeat(65), 'a"', 7, null])("refuses %j", (scope) => {
    expect(made({ scope: scope as string })).toThrow(
      /^scope must be 1 to 64 letters, digits, "-", "_" or "\."/,
    );
  });

  test("is required by adopt and clear", async () => {
    await expect(made()().adopt()).rejects.toThrow(/adopt .* pass the environment it runs in/);
    await expect(made()().clear()).rejects.toThrow(/clear .* pass the environment it runs in/);
  });
});

describe("on Vercel", () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  test.each([
    [{ VERCEL_ENV: "preview", VERCEL_TARGET_ENV: "staging" }, undefined, "staging"],
    [{ VERCEL_ENV: "preview", VERCEL_TARGET_ENV: undefined }, undefined, "preview"],
    [{ VERCEL_ENV: "preview", VERCEL_TARGET_ENV: "staging" }, "mine", "mine"],
    [{ VERCEL_ENV: "", VERCEL_TARGET_ENV: "" }, undefined, null],
  ])("%j and the option %j make the scope %j", async (env, option, expected) => {
    const [target] = pickTargets(["better-sqlite3-memory"]);
    const open = await target!.open();
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    await new Wadi(open.executor, { scope: option }).migrate();
    const rows = await open.executor.run({
      sql: "select value from cairnq_meta where key = 'wadi_scope'",
      params: [],
    });
    expect(rows).toEqual(expected === null ? [] : [{ value: expected }]);
    await open.close();
  });
});
