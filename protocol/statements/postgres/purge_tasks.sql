-- Deletes terminal tasks that completed before the cutoff, oldest first, with their keys. A null filter matches
-- everything. It merges the oldest tasks of each queue and status, which an index has in that order; the array and the
-- lower bound keep the planner's estimates small, and so the plan on that index.
-- @param older_than_ms integer
-- @param queue text?
-- @param status text?
-- @param name text?
-- @param max_tasks integer
-- @param scope text?
-- @param now_ms integer?
-- @returns id
with cutoff as materialized (
  select coalesce(@guard()::bigint, @scope_guard()::bigint, @present()) - :older_than_ms::bigint as ms
),
oldest as (
  select done.id
  from unnest(array(
    with recursive queues(queue) as (
      select coalesce(@guard(), :queue::text, @least(queue, completed_at_ms is not null))
      union all
      select @least(queue, completed_at_ms is not null and queue > queues.queue)
      from queues where :queue::text is null and queue is not null
    )
    select queue from queues where queue is not null
  )) as queues(queue)
  cross join (values ('succeeded'), ('failed'), ('canceled')) as statuses(status)
  cross join lateral (
    select completed_at_ms, id from cairnq_tasks
    where completed_at_ms is not null and queue = queues.queue and status = statuses.status
      and completed_at_ms >= 0 and completed_at_ms < (select ms from cutoff)
      and (:name::text is null or name = :name::text)
    order by completed_at_ms, id limit :max_tasks::bigint
  ) done
  where :status::text is null or statuses.status = :status::text
  order by done.completed_at_ms, done.id
  limit :max_tasks::bigint
),
locked as (
  select id
  from cairnq_tasks
  where id = any(array(select id from oldest))
    and coalesce(completed_at_ms, (select ms from cutoff)) < (select ms from cutoff)
  for update skip locked
)
delete from cairnq_tasks
where id = any(array(select id from locked))
returning id
