-- Forgets the limits of keys that have not been used for older_than_ms, an hour at least: no submit named the key, no
-- task is queued or running under it, and no start of it is in its window. The first key stays: its row says that there
-- have been limits. A submit under the key at the same moment renews the row, which is looked at again and stays.
-- @param older_than_ms integer
-- @param max_keys integer
-- @param now_ms integer?
-- @returns key
with @now(),
lanes as materialized (
  select queues.queue, names.name
  from @distinct(queue, status = 'queued') as queues(queue)
  cross join lateral @distinct(name, @queued(queues.queue)) as names(name)
),
unused as materialized (
  select old.key
  from unnest(array(
    select key from wadi_limits where updated_at_ms <= @forgotten_at() and key > (select min(key) from wadi_limits)
  )) as old(key)
  cross join lateral (
    select
      (
        select id from cairnq_tasks
        where status = 'running' and concurrency_key = old.key and concurrency_key <> '' limit 1
      ) as running,
      (
        select started_at_ms from wadi_limit_starts
        where @in_window(old.key, (select rate_per_ms from wadi_limits where key = old.key)) limit 1
      ) as started,
      array(
        select (select id from cairnq_tasks where @queued(lanes.queue, lanes.name, old.key) limit 1)
        from lanes
      ) as queued
  ) used
  where running is null and started is null and array_remove(queued, null) = '{}'
  limit :max_keys::bigint
)
delete from wadi_limits limits
where limits.key in (select key from unused) and limits.updated_at_ms <= @forgotten_at()
returning limits.key
