-- Deletes terminal tasks that completed before the cutoff, oldest first, with their keys.
-- A null filter matches everything. The walk merges one lane a queue and status.
-- @param older_than_ms integer
-- @param queue text?
-- @param status text?
-- @param name text?
-- @param max_tasks integer
-- @param now_ms integer?
-- @returns id
with cutoff as materialized (
  select coalesce(@guard()::bigint, :now_ms::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) - :older_than_ms::bigint as ms
),
-- The array and the lower bound keep the row estimates small, and so the plan on the index.
oldest as (
  select o.id
  from unnest(array(
    with recursive queues(queue) as (
      select coalesce(@guard(), :queue::text, (
        select t.queue from cairnq_tasks t where t.completed_at_ms is not null order by t.queue limit 1
      ))
      union all
      select (
        select t.queue from cairnq_tasks t
        where t.completed_at_ms is not null and t.queue > q.queue
        order by t.queue limit 1
      )
      from queues q where :queue::text is null and q.queue is not null
    )
    select q.queue from queues q where q.queue is not null
  )) as q(queue)
  cross join (values ('succeeded'), ('failed'), ('canceled')) as s(status)
  cross join lateral (
    select t.completed_at_ms, t.id from cairnq_tasks t
    where t.completed_at_ms is not null and t.queue = q.queue and t.status = s.status
      and t.completed_at_ms >= 0 and t.completed_at_ms < (select ms from cutoff)
      and (:name::text is null or t.name = :name::text)
    order by t.completed_at_ms, t.id limit :max_tasks::bigint
  ) o
  where :status::text is null or s.status = :status::text
  order by o.completed_at_ms, o.id
  limit :max_tasks::bigint
),
locked as (
  select t.id
  from cairnq_tasks t
  where t.id = any(array(select id from oldest))
    and coalesce(t.completed_at_ms, (select ms from cutoff)) < (select ms from cutoff)
  for update skip locked
)
delete from cairnq_tasks t
where t.id = any(array(select id from locked))
returning t.id
