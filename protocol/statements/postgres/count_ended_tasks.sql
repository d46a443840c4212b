-- How many tasks have ended that a bulk retry or purge would take, and the time of the count. It reads at most
-- max_tasks of each queue and status.
-- @param status text?
-- @param queue text?
-- @param name text?
-- @param max_tasks integer
-- @param now_ms integer?
-- @returns tasks, ms
with @now()
select coalesce(sum(done.tasks), 0)::bigint as tasks, (select ms from now) as ms
from unnest(array(
  with recursive queues(queue) as (
    select coalesce(:queue::text, @least(queue, completed_at_ms is not null))
    union all
    select @least(queue, completed_at_ms is not null and queue > queues.queue)
    from queues where :queue::text is null and queue is not null
  )
  select queue from queues where queue is not null
)) as queues(queue)
cross join (values ('succeeded'), ('failed'), ('canceled')) as statuses(status)
cross join lateral (
  select count(*) as tasks
  from (
    select name from cairnq_tasks
    where completed_at_ms is not null and queue = queues.queue and status = statuses.status
      and completed_at_ms <= (select ms from now)
    order by completed_at_ms, id limit :max_tasks::bigint
  ) read
  where :name::text is null or read.name = :name::text
) done
where :status::text is null or statuses.status = :status::text
