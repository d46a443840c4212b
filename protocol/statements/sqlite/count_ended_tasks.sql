-- How many tasks have ended that a bulk retry or purge would take, and the time of the count. It reads at most
-- max_tasks of each queue and status.
-- @param status text?
-- @param queue text?
-- @param name text?
-- @param max_tasks integer
-- @param now_ms integer?
-- @returns tasks, ms
with recursive
@now(),
queues(queue) as (
  select coalesce(:queue, @least(queue, completed_at_ms is not null))
  union all
  select @least(queue, completed_at_ms is not null and queue > queues.queue)
  from queues where :queue is null and queues.queue is not null
),
statuses(status) as (
  select value from json_each('["succeeded","failed","canceled"]') where :status is null or value = :status
)
select
  coalesce(sum((
    select count(*) from (
      select id from cairnq_tasks
      where completed_at_ms is not null and queue = queues.queue and status = statuses.status
        and completed_at_ms <= (select ms from now)
      order by completed_at_ms, id limit +:max_tasks
    ) done
    where :name is null or (select name from cairnq_tasks where id = done.id) = :name
  )), 0) as tasks,
  @safe_time((select ms from now)) as ms
from queues cross join statuses
where queue is not null
