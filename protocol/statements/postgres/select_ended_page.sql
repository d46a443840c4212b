-- A page of a bulk retry or purge: up to max_tasks tasks behind a position that ended up to the cutoff, oldest first.
-- Merges the oldest tasks of each queue and status, which an index has in that order. A task of another name is no
-- match. A position is 15 digits of the time of the end, and the id.
-- @param status text?
-- @param queue text?
-- @param name text?
-- @param cutoff_ms integer?
-- @param position text?
-- @param max_tasks integer
-- @param now_ms integer?
-- @returns id, position, matches, ms
with cutoff as materialized (select coalesce(:cutoff_ms::bigint, @present()) as ms),
behind as materialized (
  select coalesce(left(:position::text, 15), '-1')::bigint as ms, coalesce(substr(:position::text, 16), '') as id
)
select
  done.id, lpad(done.completed_at_ms::text, 15, '0') || done.id as position,
  case when :name::text is null or done.name = :name::text then 1 else 0 end as matches,
  (select ms from cutoff) as ms
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
  select completed_at_ms, id, name from cairnq_tasks
  where completed_at_ms is not null and queue = queues.queue and status = statuses.status
    and completed_at_ms <= (select ms from cutoff) and completed_at_ms >= (select ms from behind)
    and (completed_at_ms, id) > ((select ms from behind), (select id from behind))
  order by completed_at_ms, id limit :max_tasks::bigint
) done
where :status::text is null or statuses.status = :status::text
order by done.completed_at_ms, done.id
limit :max_tasks::bigint
