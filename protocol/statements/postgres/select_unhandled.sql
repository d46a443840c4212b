-- Counts the due tasks in the queues of these lanes whose names no lane takes: of each name at most 100, and of at most
-- max_names names. It goes through such a name by the first task of each level (a concurrency key and a priority), over
-- at most 200 levels, so of tasks that are due later it reads only those. Tasks of a paused lane do not count, nor do
-- those that have expired; while there are none, no task is read for its expiry.
-- @param lanes_json json
-- @param max_names integer
-- @param now_ms integer?
-- @returns queue, name, tasks
with recursive
@now(),
lanes as materialized (
  select lane->>'queue' as queue, lane->>'name' as name
  from @elements(:lanes_json) as given(lane)
),
any_expired as materialized (select coalesce(@first_expiry() <= (select ms from now), false) as has),
levels(queue, name, key, priority, handled, step) as (
  select asked.queue, first.name, first.concurrency_key, first.priority, first.handled, 1
  from (select distinct queue from lanes where not @is_paused(lanes.queue, '')) asked
  cross join lateral (
    select name, concurrency_key, priority, @is_handled(asked.queue, cairnq_tasks.name) as handled
    from cairnq_tasks
    where @queued(asked.queue)
    order by name, concurrency_key, priority desc limit 1
  ) first
  union all
  select
    level.queue, next.name, next.concurrency_key, next.priority, @is_handled(level.queue, next.name), level.step + 1
  from levels level
  cross join lateral (
    (
      select name, concurrency_key, priority from cairnq_tasks
      where not level.handled and @queued(level.queue, level.name, level.key) and priority < level.priority
      order by priority desc limit 1
    )
    union all
    (
      select name, concurrency_key, priority from cairnq_tasks
      where not level.handled and @queued(level.queue, level.name) and concurrency_key > level.key
      order by concurrency_key, priority desc limit 1
    )
    union all
    (
      select name, concurrency_key, priority from cairnq_tasks
      where @queued(level.queue) and name > level.name
      order by name, concurrency_key, priority desc limit 1
    )
    limit 1
  ) next
  where level.step < 200
)
select level.queue, level.name, least(sum(counted.tasks), 100) as tasks
from levels level
cross join lateral (
  select count(*) as tasks from (
    select 1 from cairnq_tasks
    where @queued(level.queue, level.name, level.key)
      and priority = level.priority and run_at_ms <= (select ms from now)
      and case when (select has from any_expired) then not @is_expired(cairnq_tasks, (select ms from now)) else true end
    limit 100
  ) due
) counted
where not level.handled and counted.tasks > 0
group by level.queue, level.name
limit :max_names::bigint
