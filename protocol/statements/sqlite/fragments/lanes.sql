-- The table `lanes`: each lane of :lanes_json that is not paused, with one row for each name that is queued if the lane
-- takes every name.
-- @param where? only these lanes; a lane is `item.value`
listed(queue, name, every) as (
  select
    item.value->>'queue', coalesce(item.value->>'name', @least(name, @queued(item.value->>'queue'))),
    item.value->>'name' is null
  from json_each(:lanes_json) item
  where not @is_paused(item.value->>'queue', ifnull(item.value->>'name', ''))
    and @where
  union all
  select listed.queue, @least(name, @queued(listed.queue) and name > listed.name), listed.every
  from listed where listed.every and listed.name is not null
),
lanes(queue, name) as (
  select queue, name from listed where name is not null and not (every and @is_paused(listed.queue, listed.name))
)
