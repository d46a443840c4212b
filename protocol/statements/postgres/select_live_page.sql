-- A page of a bulk cancel: up to max_tasks queued tasks behind a position, in the order of their index, and up to
-- max_tasks running ones that were not asked to stop. Reads what it returns. A task that is no match is one that came
-- after the cutoff, that has expired, or that the walk passed on its way to the next queue. A running task has no
-- position. A position is the queue, name, concurrency key, priority, due time and id.
-- @param status text?
-- @param queue text?
-- @param name text?
-- @param cutoff_ms integer?
-- @param position json?
-- @param max_tasks integer
-- @param now_ms integer?
-- @returns id, position, matches, ms
with recursive
@now(),
cutoff as materialized (select coalesce(:cutoff_ms::bigint, ms) as ms from now),
walk(queue, name, concurrency_key, priority, run_at_ms, id) as (
  select
    coalesce(:position::jsonb->>0, :queue::text, @least(queue, status = 'queued')), coalesce(:position::jsonb->>1, ''),
    coalesce(:position::jsonb->>2, ''), coalesce((:position::jsonb->>3)::bigint, 9223372036854775807),
    coalesce((:position::jsonb->>4)::bigint, -9223372036854775807), coalesce(:position::jsonb->>5, '')
  where :status::text is distinct from 'running'
  union all
  select task.queue, task.name, task.concurrency_key, task.priority::bigint, task.run_at_ms, task.id
  from walk
  cross join lateral (
    select coalesce(
      case when :name::text is null or walk.name = :name::text then coalesce(
        (
          select id from cairnq_tasks
          where @queued(walk.queue, walk.name, walk.concurrency_key) and priority = walk.priority
            and (run_at_ms, id) > (walk.run_at_ms, walk.id)
          order by run_at_ms, id limit 1
        ),
        (
          select id from cairnq_tasks
          where @queued(walk.queue, walk.name, walk.concurrency_key) and priority < walk.priority
          order by priority desc, run_at_ms, id limit 1
        ),
        (
          select id from cairnq_tasks
          where @queued(walk.queue, walk.name) and concurrency_key > walk.concurrency_key
          order by concurrency_key, priority desc, run_at_ms, id limit 1
        )
      ) end,
      case when :name::text is null then (
        select id from cairnq_tasks
        where @queued(walk.queue) and name > walk.name
        order by name, concurrency_key, priority desc, run_at_ms, id limit 1
      ) when walk.name < :name::text then (
        select id from cairnq_tasks
        where @queued(walk.queue, :name::text)
        order by concurrency_key, priority desc, run_at_ms, id limit 1
      ) end,
      case when :queue::text is null then (
        select id from cairnq_tasks
        where status = 'queued' and queue > walk.queue
        order by queue, name, concurrency_key, priority desc, run_at_ms, id limit 1
      ) end
    ) as id
  ) next
  cross join lateral (select * from cairnq_tasks where id = next.id limit 1) task
),
queued as materialized (
  select * from walk where id <> coalesce(:position::jsonb->>5, '') limit :max_tasks::bigint
),
running as materialized (
  select id from cairnq_tasks
  where status = 'running' and lease_until_ms is not null and lease_until_ms > 0 and cancel_requested_at_ms is null
    and :status::text is distinct from 'queued'
    and (:queue::text is null or queue = :queue::text) and (:name::text is null or name = :name::text)
    and created_at_ms <= (select ms from cutoff)
  limit :max_tasks::bigint
)
select
  task.id, jsonb_build_array(
    task.queue, task.name, task.concurrency_key, task.priority, task.run_at_ms, task.id
  ) as position,
  case when (:name::text is null or task.name = :name::text) and task.created_at_ms <= (select ms from cutoff)
    and not @is_expired(task, (select ms from now)) then 1 else 0 end as matches,
  (select ms from cutoff) as ms
from queued cross join lateral (select * from cairnq_tasks where id = queued.id limit 1) task
union all
select id, null, 1, (select ms from cutoff) from running
