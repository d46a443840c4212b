// Every way out of running leaves the same row in both dialects.

import { afterAll, beforeAll, expect, test } from "vitest";
import { createDialectTwins, type DialectTwins } from "../../testing/dialect-twins.ts";
import { groupsJson } from "../../testing/groups-json.ts";
import { PLAIN_CLAIM, taskInput } from "../../testing/task-input.ts";

const OUTCOMES = ["complete", "succeed", "retry", "fail", "release"];

let twins: DialectTwins;

beforeAll(async () => {
  twins = await createDialectTwins();
});

afterAll(() => twins.end());

test("every way out of running leaves the same row on both dialects", async () => {
  const { both, expectEqualTables } = twins;
  const settlements: object[] = [];
  const leases: object[] = [];
  let count = 0;
  for (const outcome of [...OUTCOMES, "lost", "expired"]) {
    for (const canceled of [false, true]) {
      for (const max_attempts of [1, 2]) {
        for (const delay_ms of [0, 500]) {
          const id = `exit_${String(count++).padStart(3, "0")}`;
          const groups_json = groupsJson([taskInput(id, { queue: "exits", max_attempts, payload: [count] })]);
          await both("insert_tasks", { groups_json, now_ms: 1_000 });
          const lanes_json = JSON.stringify([{ queue: "exits", name: "resize", quota: 1 }]);
          const lease_ms = outcome === "expired" ? 10 : 1_000;
          const taken = { lanes_json, worker_id: `w:${id}`, lease_ms, max_tasks: 1, now_ms: 1_000 };
          await both("claim_tasks", { ...taken, ...PLAIN_CLAIM });
          const owned = { id, worker_id: `w:${id}`, now_ms: 1_001 };
          await both("update_progress", { ...owned, progress: 0.25, message: "a quarter" });
          if (canceled) await both("cancel_task", { id, key: null, now_ms: 1_002 });
          const worker_id = outcome === "lost" ? "w:other" : `w:${id}`;
          leases.push({ id, worker_id });
          if (outcome === "expired") continue;
          const error = {
            type: "Error",
            code: "handler_error",
            message: "no",
            retryable: true,
            details: null,
          };
          settlements.push({
            ...{ id, worker_id, attempt: 1, delay_ms, outcome: outcome === "lost" ? "complete" : outcome },
            ...(outcome === "retry" || outcome === "fail"
              ? { error }
              : { result: delay_ms === 0 ? null : { ok: 1 } }),
          });
        }
      }
    }
  }
  const renewed = await both("renew_leases", {
    leases_json: JSON.stringify(leases),
    lease_ms: 1_500,
    now_ms: 1_020,
  });
  expect(renewed).toHaveLength(40);
  const settled = await both("settle_tasks", {
    settlements_json: JSON.stringify(settlements),
    now_ms: 1_100,
  });
  expect(settled).toHaveLength(40);
  expect(await both("recover_leases", { scope: null, now_ms: 1_011 })).toHaveLength(8);
  expect(await both("recover_leases", { scope: null, now_ms: 1_011 })).toHaveLength(0);
  await expectEqualTables();
});
