import type { Executor } from "../../src/core/executor.ts";
import { inSchema } from "../in-schema.ts";

/** Rules that every row obeys at any time, each with the query for rows that break it. */
const RULES: Record<string, string> = {
  "a lease exists exactly while running":
    "select id from cairnq_tasks where (status = 'running') <> (lease_until_ms is not null)",
  "a running task has an owner": "select id from cairnq_tasks where status = 'running' and worker_id is null",
  "a queued task has no owner, progress or message":
    "select id from cairnq_tasks where status = 'queued' and coalesce(worker_id, message, progress || '') is not null",
  "a task is completed exactly while terminal":
    "select id from cairnq_tasks where (status not in ('queued', 'running')) <> (completed_at_ms is not null)",
  "a top-level task is its own root":
    "select id from cairnq_tasks where parent_id is null and coalesce(root_id, '') <> id",
  "a key goes with its task":
    "select key as id from cairnq_task_keys where task_id not in (select id from cairnq_tasks)",
  "a failure goes with its task":
    "select task_id as id from wadi_failures where task_id not in (select id from cairnq_tasks)",
};

/** The rules that at least one row breaks now. */
export async function brokenRules(executor: Executor): Promise<string[]> {
  const { schema } = executor.protocol;
  const results = await executor.batch(
    Object.values(RULES).map((sql) => ({ sql: inSchema(sql, schema), params: [] })),
  );
  return Object.keys(RULES).flatMap((rule, i) => results[i]!.map(({ id }) => `${rule}, but not ${id}`));
}
