// Submits in a batch of the application.

import * as v from "valibot";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { defineTask, Wadi } from "../../../src/index.ts";
import { pickTargets } from "../../../testing/targets.ts";
import { type NativeClient, nativeClients } from "../../../testing/transactional-clients.ts";

describe.each(Object.keys(nativeClients))("statements for the application's batch, %s", (name) => {
  let client: NativeClient;
  let wadi: Wadi;

  beforeEach(async () => {
    client = await nativeClients[name]!();
    wadi = new Wadi(client.executor);
    await client.executor.run({ sql: "create table ledger (id text primary key)", params: [] });
  });
  afterEach(() => client.close());

  const ledger = async () =>
    (await client.executor.run({ sql: "select id from ledger order by id", params: [] })).map(({ id }) => id);

  test("queue a task together with rows, or neither", async () => {
    const { id, statements, read } = await wadi.statements.submit("mail", { to: "a" }, { priority: 3 });
    expect(await wadi.get(id)).toBeNull();
    const [, ...results] = await client.batch([client.insert("a"), ...statements]);
    expect(await ledger()).toEqual(["a"]);
    const task = await wadi.get(id);
    expect(task).toMatchObject({ id, name: "mail", payload: { to: "a" }, priority: 3, status: "queued" });
    expect(read(results)).toEqual({ ...task, outcome: "created" });

    const second = await wadi.statements.submit("mail", null);
    await expect(client.batch([...second.statements, client.insert("a")])).rejects.toThrow();
    expect(await wadi.get(second.id)).toBeNull();
    expect(await ledger()).toEqual(["a"]);
  });

  test("need one round trip for the first of a process, and none afterwards", async () => {
    const count = async (work: () => Promise<unknown>) => {
      const before = client.requests();
      await work();
      return before === null ? null : client.requests()! - before;
    };
    await wadi.migrate();
    expect([1, null]).toContain(await count(() => wadi.statements.submit("mail", null)));
    expect([0, null]).toContain(await count(() => wadi.statements.submitMany("mail", [{ payload: 1 }])));
    expect([0, null]).toContain(await count(() => wadi.statements.cancelByKey("k")));
  });

  test("find the tables of an older Wadi, and bring them up to date", async () => {
    const { migrations } = client.executor.protocol;
    const old = { ...client.executor.protocol, baseline: undefined, migrations: migrations.slice(0, -1) };
    await new Wadi({ ...client.executor, protocol: old }).migrate();
    const { id, statements } = await wadi.statements.submit("mail", null);
    await client.batch(statements);
    expect(await wadi.get(id)).toMatchObject({ status: "queued" });
  });

  test("queue many tasks, also with keys and limits", async () => {
    const limits = { key: "tenant", concurrency: 2 };
    const { ids, statements, read } = await wadi.statements.submitMany("mail", [
      { payload: 1 },
      { payload: 2, key: "k" },
      { payload: 3, limits },
      { payload: 4, key: "k", conflict: "replace" },
    ]);
    const submitted = read(await client.batch(statements));
    expect(submitted.map(({ outcome }) => outcome)).toEqual(["created", "created", "created", "created"]);
    expect(submitted.map(({ id }) => id)).toEqual(ids);
    expect(await wadi.getByKey("k")).toMatchObject({ id: ids[3] });
    expect(await wadi.get(ids[1]!)).toMatchObject({ status: "canceled" });
    expect(await client.executor.run({ sql: "select key from wadi_limits", params: [] })).toEqual([
      { key: "tenant" },
    ]);
  });

  test("leave a key its task, and return that task", async () => {
    const first = await wadi.submit("mail", 1, { key: "k" });
    const { id, statements, read } = await wadi.statements.submit("mail", 2, { key: "k" });
    const [, ...results] = await client.batch([client.insert("a"), ...statements]);
    expect(read(results)).toMatchObject({ id: first.id, outcome: "reused", payload: 1 });
    expect(await wadi.get(id)).toBeNull();
    expect(await ledger()).toEqual(["a"]);
  });

  test("fail the whole batch where the policy rejects a key that is taken", async () => {
    const submit = () => wadi.statements.submit("mail", 2, { key: "k", conflict: "reject" });
    const { id, statements, read } = await submit();
    expect(read(await client.batch(statements))).toMatchObject({ id, outcome: "created" });
    // The same statements once more are the same submit.
    await client.batch(statements);
    const again = await submit();
    const refused = client.batch([client.insert("a"), ...again.statements]);
    await expect(refused).rejects.toThrow("wadi:already_exists");
    expect(await ledger()).toEqual([]);
    expect(await wadi.list()).toHaveLength(1);
    // Also where another has taken the key over since then.
    await wadi.submit("mail", 3, { key: "k", conflict: "replace" });
    await client.batch(statements);
    expect(await wadi.list()).toHaveLength(2);
  });

  test("cancel", async () => {
    const { id } = await wadi.submit("mail", 1, { key: "k" });
    const { statements, read } = await wadi.statements.cancelByKey("k");
    expect(read(await client.batch(statements))).toMatchObject({ id, status: "canceled" });
    const none = await wadi.statements.cancel("task_none");
    expect(none.read(await client.batch(none.statements))).toBeNull();
  });

  test("are checked before anything is sent", async () => {
    const task = defineTask({ name: "checked", payload: v.object({ n: v.number() }) });
    const wrong = { n: "1" } as never;
    for (const refused of [
      wadi.statements.submit(task, wrong),
      wadi.statements.submitMany(task, [{ payload: { n: 1 } }, { payload: wrong }]),
      wadi.statements.submit("mail", 1, { prio: 1 } as never),
      wadi.statements.submitMany("mail", { payload: 1 } as never),
      wadi.statements.cancel(""),
    ]) {
      await expect(refused).rejects.toMatchObject({ name: "InvalidArgument" });
    }
    await expect(wadi.statements.submit("mail", 1n)).rejects.toMatchObject({ name: "SerializationError" });
    const { statements, read } = await wadi.statements.submit("mail", 1);
    const results = await client.batch([client.insert("a"), ...statements]);
    expect(() => read(results)).toThrow(/read expects the 1 results of these statements, got 2; slice/);
    // Results of a client that is configured to return rows as arrays, and results that no client returns.
    for (const wrong of [{ rows: [["task"]], results: [["task"]], columns: null }, null, "rows"]) {
      expect(() => read([wrong])).toThrow(/^read expects the results as the client returned them/);
    }
    expect(() => wadi.with({})).toThrow(
      /^(?:d1|neon-http) has no transactions|^with\(tx\) found no open tra/,
    );
  });
});

test.each(pickTargets(["better-sqlite3-memory", "pg"]))(
  "$name does not accept a batch of statements",
  async (target) => {
    const { executor, close } = await target.open();
    try {
      const refused = new Wadi(executor).statements.submit("mail", null);
      await expect(refused).rejects.toMatchObject({
        name: "Unsupported",
        code: "UNSUPPORTED",
        message: expect.stringMatching(/does not accept a batch of statements; .* wadi\.with\(tx\)$/),
      });
    } finally {
      await close();
    }
  },
);
