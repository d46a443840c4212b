-- Forgets the limits of keys that no task is queued or running under, and that no submit named and no start fell under
-- for that long, an hour at least. Not the first key: its row says that there have been limits.
-- A submit under the key at the same moment renews the row, which is looked at again and stays.
-- @param older_than_ms integer
-- @param max_keys integer
-- @param now_ms integer?
-- @returns key
with recursive
now as materialized (
  select coalesce(:now_ms::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) as ms
),
queues(queue) as (
  select (select t.queue from cairnq_tasks t where t.status = 'queued' order by t.queue limit 1)
  union all
  select (
    select t.queue from cairnq_tasks t where t.status = 'queued' and t.queue > queues.queue order by t.queue limit 1
  )
  from queues where queues.queue is not null
),
-- Through arrays the planner expects few rows of each.
lanes(queue, name) as (
  select q.queue, (
      select t.name from cairnq_tasks t where t.status = 'queued' and t.queue = q.queue order by t.name limit 1
    )
  from unnest(array(select queues.queue from queues where queues.queue is not null)) as q(queue)
  union all
  select lanes.queue, (
      select t.name from cairnq_tasks t
      where t.status = 'queued' and t.queue = lanes.queue and t.name > lanes.name
      order by t.name limit 1
    )
  from lanes where lanes.name is not null
),
named as materialized (
  select l->>'queue' as queue, l->>'name' as name
  from unnest(array(
    select jsonb_build_object('queue', lanes.queue, 'name', lanes.name) from lanes where lanes.name is not null
  )) as i(l)
),
idle as materialized (
  select o.key
  from unnest(array(
    select l.key from wadi_limits l
    where l.updated_at_ms <= (select ms from now) - greatest(:older_than_ms::bigint, 3600000)
      and l.key > (select min(key) from wadi_limits)
  )) as o(key)
  cross join lateral (
    select
      (
        select t.id from cairnq_tasks t
        where t.status = 'running' and t.concurrency_key = o.key and t.concurrency_key <> '' limit 1
      ) as running,
      (
        select s.key from wadi_limits l join wadi_limit_starts s on s.key = l.key
        where l.key = o.key and s.started_at_ms > (select ms from now) - l.rate_per_ms limit 1
      ) as started,
      array(
        select (
          select t.id from cairnq_tasks t
          where t.status = 'queued' and t.queue = n.queue and t.name = n.name and t.concurrency_key = o.key limit 1
        )
        from named n
      ) as queued
  ) u
  where u.running is null and u.started is null and array_remove(u.queued, null) = '{}'
  limit :max_keys::bigint
)
delete from wadi_limits l
using now
where l.key in (select key from idle) and l.updated_at_ms <= now.ms - greatest(:older_than_ms::bigint, 3600000)
returning l.key
