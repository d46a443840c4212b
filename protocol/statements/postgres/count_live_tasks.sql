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
from @distinct(queue, status = 'queued', :queue::text is null or queue = :queue::text) as queues(queue)
cross join lateral @distinct(name, @queued(queues.queue)) as names(name)
cross join lateral (
  select count(*) as tasks
  from (
    select expires_at_ms, status, attempt from cairnq_tasks where @queued(queues.queue, names.name)
    limit :max_tasks::bigint
  ) task
  where not @is_expired(task, (select ms from now))
) counted
where :status::text is distinct from 'running'
  and (:queue::text is null or queues.queue = :queue::text) and (:name::text is null or names.name = :name::text)
