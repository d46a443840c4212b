-- The table `locked`: of each row of `picked` as many tasks as it asks for, from the highest priority down, past those
-- that other claims hold.
-- @param key the concurrency key of a `level`
-- @param of_key? only the levels of the picked key
locked as (
  select claimed.id
  from picked
  cross join lateral (
    select task.id
    from (
      select * from levels level
      where level.queue = picked.queue and level.name = picked.name
        and @of_key
      order by level.priority desc
    ) level
    cross join lateral (
      select id from cairnq_tasks
      where @due(level, @key, level)
      order by run_at_ms, id limit picked.tasks
      for update skip locked
    ) task
    limit picked.tasks
  ) claimed
  where sign(picked.tasks) = 1
)
