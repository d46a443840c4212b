-- The table `keys`: the concurrency keys of the queued tasks of each lane, through an array as the lanes.
-- @param first? a condition of the first key of a lane
-- @param where? a condition without which there are no keys
keys as materialized (
  select entry->>'queue' as queue, entry->>'name' as name, entry->>'key' as key
  from unnest(array(
    select jsonb_build_object('queue', lanes.queue, 'name', lanes.name, 'key', found.key)
    from lanes
    cross join lateral @distinct(
      concurrency_key, @queued(lanes.queue, lanes.name)
      , @first
    ) as found(key)
    where @where
  )) as found(entry)
)
