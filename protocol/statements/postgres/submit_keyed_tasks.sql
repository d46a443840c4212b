-- Queues each submitted task whose key is free under its throttle and policy, and returns the task that every key then
-- points at. A submit with 'debounce' whose key has a queued task of its name gives that task its payload and metadata
-- instead and moves its due time; lock_debounced_tasks has locked it. Where 'own_name' is given, a live task of another
-- name keeps its key, and the submit is refused. A submit that was sent before changes nothing.
--
-- It must follow lock_task_keys in the same transaction, so that it reads after the locks are taken. A task that is to
-- be replaced has been canceled by now, so a clock that passes the end of a throttle in between changes nothing. Each
-- row is looked up by itself, so that the planner has no choice but the primary key.
-- @only postgres: SQLite has no locks to take first and does the same in a batch
-- @param tasks_json json
-- @param now_ms integer?
-- @returns task_key, task
with @now(),
submitted as materialized (
  select
    item, item->>'id' as id, item->>'key' as key, item->>'conflict' as conflict,
    @is_sent(item) as sent, @task_of_key(item->>'key') as task_id
  from @elements(:tasks_json) as items(item)
),
decided as materialized (
  select
    submit.*,
    not submit.sent and submit.conflict = 'debounce'
      and present.status = 'queued' and present.name = submit.item->>'name' as joins,
    not submit.sent and case
      when submit.task_id is null then true
      when present.name <> submit.item->>'own_name' and present.status in ('queued', 'running') then false
      when (
        (select created_at_ms from cairnq_tasks where id = submit.task_id)
        > (select ms from now) - (submit.item->>'throttle_ms')::bigint
      ) then false
      when submit.conflict = 'reuse' then present.status not in ('queued', 'running')
      when submit.conflict = 'reuse-succeeded' then present.status not in ('queued', 'running', 'succeeded')
      when submit.conflict = 'replace' then present.status = 'canceled' or (
        select coalesce(cancel_requested_at_ms, completed_at_ms)
        from cairnq_tasks where id = submit.task_id
      ) is not null
      when submit.conflict = 'debounce' then present.status <> 'queued' or present.name <> submit.item->>'name'
      else false
    end as fresh
  from submitted submit
  cross join lateral (
    select
      (select @status_of(cairnq_tasks, (select ms from now)) from cairnq_tasks where id = submit.task_id) as status,
      (select name from cairnq_tasks where id = submit.task_id) as name
  ) present
),
inserted as (
  insert into cairnq_tasks (@new_task())
  select
    case when joins then task_id else id end, item->>'name', item->>'queue', 'queued',
    item->'payload', item->'metadata',
    (item->>'max_attempts')::integer, (item->>'max_crashes')::integer, (item->>'max_crashes')::integer,
    (item->>'priority')::integer,
    least(
      coalesce((item->>'run_at_ms')::bigint, now.ms + (item->>'delay_ms')::bigint),
      (select created_at_ms from cairnq_tasks where id = submit.task_id and submit.joins)
        + (item->>'max_delay_ms')::bigint
    ),
    greatest(now.ms, least(
      coalesce((item->>'run_at_ms')::bigint, now.ms + (item->>'delay_ms')::bigint),
      (select created_at_ms from cairnq_tasks where id = submit.task_id and submit.joins)
        + (item->>'max_delay_ms')::bigint
    )) + (item->>'expires_in_ms')::bigint,
    item->>'parent_id', coalesce(item->>'root_id', id), item->>'correlation_id',
    coalesce(item->>'concurrency_key', ''), (item->>'on_failed')::jsonb, now.ms, now.ms
  from decided submit cross join now
  where fresh or joins
  on conflict (id) do update set
    payload = excluded.payload,
    metadata = excluded.metadata,
    concurrency_key = excluded.concurrency_key,
    on_failed = excluded.on_failed,
    run_at_ms = excluded.run_at_ms,
    expires_at_ms = excluded.expires_at_ms,
    updated_at_ms = excluded.updated_at_ms
  returning *
),
pointed as (
  insert into cairnq_task_keys (key, task_id, created_at_ms, updated_at_ms)
  select key, id, now.ms, now.ms
  from decided cross join now
  where fresh or task_id is null
  on conflict (key) do update set task_id = excluded.task_id, updated_at_ms = excluded.updated_at_ms
)
select submit.key as task_key, task.*, @expired_error(task, (select ms from now))
from decided submit join inserted task on task.id = case when submit.joins then submit.task_id else submit.id end
union all
select submit.key, present.*, @expired_error(present, (select ms from now))
from decided submit
cross join lateral (
  select * from cairnq_tasks where id = coalesce(submit.task_id, submit.id) limit 1
) present
where not submit.fresh and not submit.joins
