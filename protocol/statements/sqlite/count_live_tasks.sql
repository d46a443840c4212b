-- How many queued and running tasks a bulk cancel would take, and the time of the count. It reads at most max_tasks of
-- each queue and name.
-- @param status text?
-- @param queue text?
-- @param name text?
-- @param max_tasks integer
-- @param now_ms integer?
-- @returns tasks, ms
with recursive
@now(),
queues(queue) as (
  select coalesce(:queue, @least(queue, status = 'queued')) where :status is not 'running'
  union all
  select @least(queue, status = 'queued' and queue > queues.queue)
  from queues where :queue is null and queues.queue is not null
),
named(queue, name) as (
  select queue, coalesce(:name, @least(name, @queued(queues.queue))) from queues where queue is not null
  union all
  select named.queue, @least(name, @queued(named.queue) and name > named.name)
  from named where :name is null and named.name is not null
)
select
  coalesce(sum((
    select count(*) from (
      select id from cairnq_tasks where @queued(named.queue, named.name) limit +:max_tasks
    ) read
    cross join cairnq_tasks task on task.id = read.id
    where not @is_expired(task, (select ms from now))
  )), 0) + (
    select count(*) from cairnq_tasks
    where status = 'running' and lease_until_ms is not null and +cancel_requested_at_ms is null
      and :status is not 'queued' and (:queue is null or +queue = :queue) and (:name is null or +name = :name)
  ) as tasks,
  @safe_time((select ms from now)) as ms
from named where name is not null
