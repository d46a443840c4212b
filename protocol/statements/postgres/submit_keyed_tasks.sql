-- Queues each task whose key is free under its throttle and policy and returns the task every key then points at.
-- One submitted with 'debounce' whose key has a queued task of its name gives that task its payload and metadata
-- instead, and pushes its due time; lock_debounced_tasks has locked it.
-- A live task of another name keeps its key where 'own_name' is given, and the submit is refused.
-- A submit whose own task exists already was sent before and changes nothing.
-- It must follow lock_task_keys in the same transaction, so that it reads after the locks are held.
-- A replaced task has been canceled by now. A clock that passed the end of a throttle since then changes nothing.
-- Every look-up is by itself, so that the planner has no choice but the primary key.
-- @only postgres: SQLite has no locks to take first and does the same in a batch
-- @param tasks_json json
-- @param now_ms integer?
-- @returns task_key, task
with now as materialized (
  select coalesce(:now_ms::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) as ms
),
submitted as materialized (
  select
    item, item->>'id' as id, item->>'key' as key, item->>'conflict' as conflict,
    (select own.id from cairnq_tasks own where own.id = item->>'id') is not null as sent,
    (select k.task_id from cairnq_task_keys k where k.key = item->>'key') as task_id
  from unnest(array(select jsonb_array_elements(:tasks_json::jsonb))) as i(item)
),
decided as materialized (
  select
    s.*,
    not s.sent and s.conflict = 'debounce' and c.status = 'queued' and c.name = s.item->>'name' as joins,
    not s.sent and case
      when s.task_id is null then true
      when c.name <> s.item->>'own_name' and c.status in ('queued', 'running') then false
      when (
        (select t.created_at_ms from cairnq_tasks t where t.id = s.task_id)
        > (select ms from now) - (s.item->>'throttle_ms')::bigint
      ) then false
      when s.conflict = 'reuse' then c.status not in ('queued', 'running')
      when s.conflict = 'reuse-succeeded' then c.status not in ('queued', 'running', 'succeeded')
      when s.conflict = 'replace' then (
        select coalesce(t.cancel_requested_at_ms, t.completed_at_ms) from cairnq_tasks t where t.id = s.task_id
      ) is not null
      when s.conflict = 'debounce' then c.status <> 'queued' or c.name <> s.item->>'name'
      else false
    end as fresh
  from submitted s
  cross join lateral (
    select
      (select t.status from cairnq_tasks t where t.id = s.task_id) as status,
      (select t.name from cairnq_tasks t where t.id = s.task_id) as name
  ) c
),
inserted as (
  insert into cairnq_tasks (
    id, name, queue, status, payload, metadata, max_attempts, max_crashes, crash_limit, priority, run_at_ms,
    parent_id, root_id, correlation_id, concurrency_key, created_at_ms, updated_at_ms
  )
  select
    case when d.joins then d.task_id else d.id end, item->>'name', item->>'queue', 'queued', item->'payload', item->'metadata',
    (item->>'max_attempts')::integer, (item->>'max_crashes')::integer, (item->>'max_crashes')::integer, (item->>'priority')::integer,
    least(
      coalesce((item->>'run_at_ms')::bigint, now.ms + (item->>'delay_ms')::bigint),
      (select t.created_at_ms from cairnq_tasks t where t.id = d.task_id and d.joins) + (item->>'max_delay_ms')::bigint
    ),
    item->>'parent_id', coalesce(item->>'root_id', d.id), item->>'correlation_id',
    coalesce(item->>'concurrency_key', ''), now.ms, now.ms
  from decided d cross join now
  where d.fresh or d.joins
  on conflict (id) do update set
    payload = excluded.payload,
    metadata = excluded.metadata,
    concurrency_key = excluded.concurrency_key,
    run_at_ms = excluded.run_at_ms,
    updated_at_ms = excluded.updated_at_ms
  returning *
),
pointed as (
  insert into cairnq_task_keys (key, task_id, created_at_ms, updated_at_ms)
  select d.key, d.id, now.ms, now.ms
  from decided d cross join now
  where d.fresh or d.task_id is null
  on conflict (key) do update set task_id = excluded.task_id, updated_at_ms = excluded.updated_at_ms
)
select d.key as task_key, t.*
from decided d join inserted t on t.id = case when d.joins then d.task_id else d.id end
union all
select d.key, t.*
from decided d
cross join lateral (select * from cairnq_tasks e where e.id = coalesce(d.task_id, d.id) limit 1) t
where not d.fresh and not d.joins
