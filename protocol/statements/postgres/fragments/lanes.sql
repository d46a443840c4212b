-- The tables `declared`, the lanes of :lanes_json that are not paused, and `lanes`, in which a lane that takes every
-- name is one row for each name that is queued and not paused. Both go through an array, of which the planner expects
-- 10 rows: if it expected more, it would take the recursion over them for a costly one.
-- @param where? only these lanes; a lane is `lane`
declared as materialized (
  select lane->>'queue' as queue, lane->>'name' as name
  from @elements(:lanes_json) as given(lane)
  where not @is_paused(lane->>'queue', coalesce(lane->>'name', ''))
    and @where
),
lanes as materialized (
  select lane->>'queue' as queue, lane->>'name' as name
  from unnest(array(
    select jsonb_build_object('queue', queue, 'name', name) from declared where name is not null
    union all
    select jsonb_build_object('queue', declared.queue, 'name', found.name)
    from declared cross join lateral @distinct(name, @queued(declared.queue)) as found(name)
    where declared.name is null and not @is_paused(declared.queue, found.name)
  )) as found(lane)
)
