-- The table `lanes`: each lane of :lanes_json, with one row for each name that is queued if the lane takes every name.
-- @param where? only these lanes; a lane is `item.value`
lanes(queue, name, every) as (
  select
    item.value->>'queue', coalesce(item.value->>'name', @least(name, @queued(item.value->>'queue'))),
    item.value->>'name' is null
  from json_each(:lanes_json) item
  where @where
  union all
  select lanes.queue, @least(name, @queued(lanes.queue) and name > lanes.name), lanes.every
  from lanes where lanes.every and lanes.name is not null
)
