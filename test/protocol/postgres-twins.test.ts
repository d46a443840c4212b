// Any sequence of statements leaves the same rows in both dialects.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Value } from "../../src/core/executor.ts";
import { createDialectTwins, type DialectTwins } from "../../testing/dialect-twins.ts";
import { groupsJson } from "../../testing/groups-json.ts";
import { PLAIN_CLAIM, seededRandom, type TaskInput, taskInput } from "../../testing/task-input.ts";

const QUEUES = ["default", "mail"];
const NAMES = ["resize", "send", "sum"];
const OUTCOMES = ["complete", "succeed", "retry", "fail", "release"];
const POLICIES = ["reuse", "reuse-succeeded", "reject", "replace", "debounce"] as const;
const STATUSES = ["queued", "running", "succeeded", "failed", "canceled"];

let twins: DialectTwins;

beforeAll(async () => {
  twins = await createDialectTwins();
});

afterAll(() => twins.end());

test("1500 random steps leave the same rows on both dialects", { timeout: 120_000 }, async () => {
  const { both, onSqlite, onPostgres, submitKeyed, expectEqualTables } = twins;
  const random = seededRandom(7);
  const one = <T>(list: readonly T[]): T => list[random(list.length)]!;
  const maybe = <T>(value: T): T | null => (random(2) === 0 ? value : null);
  let now_ms = 10_000;
  let claims = 0;
  const seen = new Set<Value>();
  let ids: string[] = [];
  let held: { id: string; worker_id: string; attempt: number }[] = [];

  const task = (key: string | null): TaskInput => {
    const id = random(12) === 0 && ids.length > 0 ? one(ids) : `task_${String(ids.length).padStart(6, "0")}`;
    ids = ids.includes(id) ? ids : [...ids, id];
    const parent = random(4) === 0 && ids.length > 1 ? one(ids) : null;
    return taskInput(id, {
      ...{ name: one(NAMES), queue: one(QUEUES), payload: one([null, 1, "é", { b: [1], a: null }]), key },
      ...{
        max_attempts: 1 + random(3),
        priority: one([0, 0, 5, -3]),
        conflict: key === null ? null : one(POLICIES),
      },
      ...(random(3) === 0 ? {} : { own_name: NAMES[0] }),
      ...(random(4) === 0 ? { throttle_ms: 10 * random(40) } : {}),
      ...(random(4) === 0 ? { max_delay_ms: 10 * random(10) } : {}),
      ...(random(3) === 0 ? { run_at_ms: now_ms + 10 * random(40) - 100 } : { delay_ms: one([0, 0, 50]) }),
      ...(random(4) === 0 ? { expires_in_ms: 10 * random(40) } : {}),
      ...{
        parent_id: parent,
        root_id: parent,
        correlation_id: maybe(`c${random(3)}`),
        metadata: { n: random(9) },
      },
    });
  };
  const list = (make: () => TaskInput) => [
    ...new Map(Array.from({ length: 1 + random(4) }, make).map((t) => [t.id, t])).values(),
  ];
  const lanes = (): string =>
    JSON.stringify(
      QUEUES.filter(() => random(3) > 0).flatMap((queue) =>
        random(3) === 0
          ? [{ queue, name: null as string | null, quota: 1 + random(3) }]
          : NAMES.filter(() => random(2) > 0).map((name) => ({ queue, name, quota: 1 + random(3) })),
      ),
    );
  const target = () =>
    random(2) === 0 ? { id: one(ids) ?? "none", key: null } : { id: null, key: `k${random(4)}` };
  const filter = () => ({ queue: maybe(one(QUEUES)), status: maybe(one(STATUSES)), name: maybe(one(NAMES)) });
  const page = () => ({ max_tasks: 1 + random(20), skip_tasks: random(3) });
  // Some leases are asked for with a wrong owner or attempt.
  const leased = () =>
    held
      .filter(() => random(2) === 0)
      .map(
        (lease) =>
          [
            { ...lease, worker_id: "w:x" },
            { ...lease, attempt: 7 },
          ][random(12)] ?? lease,
      );

  const claim = async (): Promise<void> => {
    const worker_id = `w:${++claims}`;
    const values = {
      lanes_json: lanes(),
      worker_id,
      lease_ms: 10 + 10 * random(30),
      max_tasks: 1 + random(6),
      ...PLAIN_CLAIM,
      now_ms,
    };
    const rows = await both("claim_tasks", values);
    const taken = rows.map((row) => ({ id: String(row.id), worker_id, attempt: Number(row.attempt) }));
    held = [...held, ...taken].slice(-30);
    expect(await both("select_claimed", { worker_id })).toHaveLength(rows.length);
  };
  const settle = () => {
    const settlements = leased().map((lease) => ({
      ...{ ...lease, outcome: one(OUTCOMES), delay_ms: maybe(random(200)) },
      ...(random(2) === 0
        ? { result: one([null, { a: 1 }]), error: null }
        : { error: { code: "handler_error" } }),
    }));
    return both("settle_tasks", { settlements_json: JSON.stringify(settlements), now_ms });
  };

  const steps: (() => Promise<unknown>)[] = [
    () => claim(),
    () => claim(),
    () => settle(),
    () => settle(),
    () => both("insert_tasks", { groups_json: groupsJson(list(() => task(null))), now_ms }),
    () =>
      submitKeyed([...new Map(list(() => task(`k${random(4)}`)).map((t) => [t.key, t])).values()], now_ms),
    () => both("recover_leases", { scope: null, now_ms }),
    () => both("expire_tasks", { max_tasks: 1_000, now_ms }),
    async () => {
      const lane = { queue: one(QUEUES), name: one(["", ...NAMES]) };
      if (random(3) === 0) await both("insert_pause", { ...lane, now_ms });
      else for (const run of [onSqlite, onPostgres]) await run("delete_pause", lane);
      await both("select_pauses", lane);
    },
    () =>
      both("renew_leases", { leases_json: JSON.stringify(leased()), lease_ms: 10 + 10 * random(30), now_ms }),
    async () => {
      const lease = held[random(held.length || 1)];
      const values = { progress: maybe(random(5) / 4), message: maybe("half way"), now_ms };
      if (lease !== undefined)
        await both("update_progress", { id: lease.id, worker_id: lease.worker_id, ...values });
    },
    () => both("cancel_task", { ...target(), now_ms }),
    () => both("retry_task", { ...target(), reset_attempt: random(2), now_ms }),
    () => both("select_task", { ...target(), now_ms }),
    () => both("select_retried", { ...target(), now_ms }),
    () => both("select_task_status", { ...target(), now_ms }),
    () => {
      const ids_json = JSON.stringify(ids.slice(-40));
      const watched_json = JSON.stringify([...ids.slice(0, 3), "none"]);
      return both("select_task_states", {
        ids_json,
        watched_json,
        keys_json: '["k0", "k2", "none"]',
        now_ms,
      });
    },
    () => both("select_task_owners", { ids_json: JSON.stringify(ids.filter(() => random(4) === 0)) }),
    () => both("select_tasks", { ids_json: JSON.stringify(ids.filter(() => random(4) === 0)), now_ms }),
    () => both("select_next_due", { lanes_json: lanes(), schedule_group: null, now_ms }),
    () => both("count_queued", { queue: one(QUEUES), max_depth: 1 + random(20) }),
    () => both("count_tasks", { queues_json: maybe(JSON.stringify([one(QUEUES)])) }),
    () => both("list_tasks", { ...filter(), ...page(), now_ms }),
    () => {
      const root =
        random(2) === 0
          ? { root_id: one(ids) ?? "none", correlation_id: maybe("c1") }
          : { root_id: null, correlation_id: "c2" };
      return both("list_related_tasks", { ...root, ...filter(), ...page(), now_ms });
    },
    () => {
      const most = { older_than_ms: 10 * random(200), max_tasks: 1 + random(4) };
      return both("purge_tasks", { ...most, ...filter(), scope: null, now_ms });
    },
  ];
  await submitKeyed([task("k0")], now_ms);
  for (let step = 0; step < 1_500; step++) {
    now_ms += 10 * random(4);
    await one(steps)();
    if (step % 50 !== 0) continue;
    await expectEqualTables();
    for (const row of await both("count_tasks", { queues_json: null })) seen.add(row.status ?? null);
  }
  await expectEqualTables();
  expect(seen.size).toBe(STATUSES.length);
});
