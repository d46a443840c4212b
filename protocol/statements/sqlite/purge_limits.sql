-- Forgets the limits of keys that no task is queued or running under, and that no submit named and no start fell under
-- for that long, an hour at least. Not the first key: its row says that there have been limits.
-- @param older_than_ms integer
-- @param max_keys integer
-- @param now_ms integer?
-- @returns key
with recursive
now(ms) as not materialized (
  select coalesce(cast(:now_ms as integer), cast(round(unixepoch('subsec') * 1000) as integer))
),
queues(queue) as (
  select (select t.queue from cairnq_tasks t where t.status = 'queued' order by t.queue limit 1)
  union all
  select (
    select t.queue from cairnq_tasks t where t.status = 'queued' and t.queue > queues.queue order by t.queue limit 1
  )
  from queues where queue is not null
),
lanes(queue, name) as (
  select queue, (
      select t.name from cairnq_tasks t where t.status = 'queued' and t.queue = queues.queue order by t.name limit 1
    )
  from queues where queue is not null
  union all
  select queue, (
      select t.name from cairnq_tasks t
      where t.status = 'queued' and t.queue = lanes.queue and t.name > lanes.name
      order by t.name limit 1
    )
  from lanes where name is not null
)
delete from wadi_limits
where key in (
  select l.key from wadi_limits l
  where l.updated_at_ms <= (select ms from now) - max(cast(:older_than_ms as integer), 3600000)
    and l.key > (select min(key) from wadi_limits)
    and not exists (
      select 1 from cairnq_tasks t
      where t.status = 'running' and t.concurrency_key = l.key and t.concurrency_key <> ''
    )
    and not exists (
      select 1 from wadi_limit_starts s where s.key = l.key and s.started_at_ms > (select ms from now) - l.rate_per_ms
    )
    and not exists (
      select 1 from lanes cross join cairnq_tasks t
      where t.status = 'queued' and t.queue = lanes.queue and t.name = lanes.name and t.concurrency_key = l.key
    )
  limit +:max_keys
)
returning key
