-- How many queued and running tasks a bulk cancel would take, and the time of the count. It reads at most max_tasks of
-- each queue and name.
-- @param status text?
-- @param queue text?
-- @param name text?
-- @param max_tasks integer
-- @param now_ms integer?
-- @returns tasks, ms
with @now()
select
  coalesce(sum(counted.tasks), 0)::bigint + (
    select count(*) from cairnq_tasks
    where status = 'running' and lease_until_ms is not null and lease_until_ms > 0 and cancel_requested_at_ms is null
      and :status::text is distinct from 'queued'
      and (:queue::text is null or queue = :queue::text) and (:name::text is null or name = :name::text)
  ) as tasks,
  (select ms from now) as ms
from unnest(array(
  with recursive queues(queue) as (
    select coalesce(:queue::text, @least(queue, status = 'queued'))
    union all
    select @least(queue, status = 'queued' and queue > queues.queue)
    from queues where :queue::text is null and queue is not null
  )
  select queue from queues where queue is not null
)) as queues(queue)
cross join lateral unnest(array(
  with recursive names(name) as (
    select coalesce(:name::text, @least(name, @queued(queues.queue)))
    union all
    select @least(name, @queued(queues.queue) and name > names.name)
    from names where :name::text is null and name is not null
  )
  select name from names where name is not null
)) as names(name)
cross join lateral (
  select count(*) as tasks
  from (
    select expires_at_ms, status, attempt from cairnq_tasks
    where @queued(queues.queue, names.name)
    order by concurrency_key, priority desc, run_at_ms, id limit :max_tasks::bigint
  ) task
  where not @is_expired(task, (select ms from now))
) counted
where :status::text is distinct from 'running'
