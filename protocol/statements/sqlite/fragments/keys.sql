-- The table `keys`: the concurrency keys of the queued tasks of each lane, and a null behind the last one of each.
-- @param where? a condition of the first key
keys(queue, name, key) as (
  select lanes.queue, lanes.name, @least(
      concurrency_key, @queued(lanes.queue, lanes.name)
      and @where
    )
  from lanes
  union all
  select
    keys.queue, keys.name,
    @least(concurrency_key, @queued(keys.queue, keys.name) and concurrency_key > keys.key)
  from keys where keys.key is not null
)
