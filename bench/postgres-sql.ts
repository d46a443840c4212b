// The raw side's SQL on Postgres: the least that does the same work safely.

import { NAME, QUEUE } from "./side.ts";

export const NOW = "(extract(epoch from clock_timestamp()) * 1000)::bigint";
export const named = (name: string, text: string, values: unknown[] = []) => ({ name, text, values });

export const INSERT = `insert into cairnq_tasks (id, root_id, name, queue, status, payload, run_at_ms,
    created_at_ms, updated_at_ms)
  values ($1, $1, '${NAME}', $2, 'queued', $3, $4, $4, $4)`;
export const INSERT_MANY = `insert into cairnq_tasks (id, root_id, name, queue, status, payload, run_at_ms,
    created_at_ms, updated_at_ms)
  select id, id, '${NAME}', '${QUEUE}', 'queued', payload::jsonb, $3, $3, $3
  from unnest($1::text[], $2::text[]) as t(id, payload)`;
/** The least that is safe when submits race: the key goes first, and its owner inserts the task. */
export const SUBMIT_KEYED = `with pointed as (
    insert into cairnq_task_keys values ($1, $2, $5, $5) on conflict (key) do nothing returning task_id
  ), inserted as (
    insert into cairnq_tasks (id, root_id, name, queue, status, payload, run_at_ms,
    created_at_ms, updated_at_ms)
    select task_id, task_id, '${NAME}', $3, 'queued', $4, $5, $5, $5 from pointed returning *
  )
  select * from inserted
  union all
  select t.* from cairnq_task_keys k join cairnq_tasks t on t.id = k.task_id
  where k.key = $1 and not exists (select 1 from pointed)`;
export const CLAIM = `update cairnq_tasks set status = 'running', worker_id = 'raw', lease_until_ms = $1,
    attempt = attempt + 1
  where id = any(array(
    select id from cairnq_tasks
    where status = 'queued' and queue = $2 and name = '${NAME}'
      and concurrency_key = '' and priority = 0 and run_at_ms <= $3
    order by run_at_ms, id limit $4 for update skip locked
  )) returning id, payload, attempt`;
export const SETTLE = `update cairnq_tasks set status = 'succeeded', result = 'null', progress = 1,
    lease_until_ms = null, completed_at_ms = $1
  where id = any($2::text[]) and worker_id = 'raw'`;
/**
 * Keeps a result for each task, and writes nothing that its claim does not hold any more. The empty text and the zero
 * keep a planner without statistics on the primary key.
 */
export const SETTLE_FENCED = `update cairnq_tasks set status = 'succeeded', result = $3::jsonb -> id, progress = 1,
    lease_until_ms = null, completed_at_ms = $1
  where id = any($2::text[]) and status || '' = 'running' and worker_id = 'raw' and lease_until_ms + 0 > $1`;
export const RELEASE = `update cairnq_tasks set status = 'queued', worker_id = null, lease_until_ms = null,
    attempt = attempt - 1
  where id = any($1::text[])`;
export const GET = "select * from cairnq_tasks where id = $1";
