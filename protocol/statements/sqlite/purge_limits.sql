-- Forgets the limits of keys that have not been used for older_than_ms, an hour at least: no submit named the key, no
-- task is queued or running under it, and no start of it is in its window. The first key stays: its row says that there
-- have been limits.
-- @param older_than_ms integer
-- @param max_keys integer
-- @param now_ms integer?
-- @returns key
with recursive
@now(),
queues(queue) as (
  select @least(queue, status = 'queued')
  union all
  select @least(queue, status = 'queued' and queue > queues.queue) from queues where queue is not null
),
lanes(queue, name) as (
  select queue, @least(name, @queued(queues.queue)) from queues where queue is not null
  union all
  select queue, @least(name, @queued(lanes.queue) and name > lanes.name) from lanes where name is not null
)
delete from wadi_limits
where key in (
  select limits.key from wadi_limits limits
  where limits.updated_at_ms <= (select ms from now) - max(cast(:older_than_ms as integer), 3600000)
    and limits.key > (select min(key) from wadi_limits)
    and not exists (
      select 1 from cairnq_tasks
      where status = 'running' and concurrency_key = limits.key and concurrency_key <> ''
    )
    and not exists (select 1 from wadi_limit_starts where @in_window(limits.key, limits.rate_per_ms))
    and not exists (
      select 1 from lanes cross join cairnq_tasks task
      where task.status = 'queued' and task.queue = lanes.queue and task.name = lanes.name
        and task.concurrency_key = limits.key
    )
  limit +:max_keys
)
returning key
