-- The next cursor of an entry of `walk`: its next due task, else the start of its next lower priority, else null.
-- A cursor sorts as tasks are claimed: 15 digits of inverted priority and a mark, 10 digits of the turn, 16 digits of
-- the due time and a mark, then the id. A mark is 0 if the digits before it are exact and 1 if the row has another
-- value, such as a fraction or a text: it is read from the row again, so that each step moves on whatever the columns
-- hold. If it weighs, a task too large for an answer is passed by; else none is read for its size.
-- @param key the concurrency key of the entry
coalesce((
  select printf(
      '%015d%d%010d%016d%d',
      2147483647 - @priority_digits(),
      priority <> @priority_digits(),
      ifnull(rank + taken + @at_task(cursor), 0),
      1000000000000000 + @run_at_digits(),
      run_at_ms <> @run_at_digits()
    ) || id
  from cairnq_tasks
  where @queued(walk.queue, walk.name, @key)
    and priority = @level_of(walk)
    and run_at_ms <= (select ms from now)
    and (run_at_ms, id) > (
      case substr(walk.cursor, 43, 1)
        when '0' then cast(substr(walk.cursor, 27, 16) as integer) - 1000000000000000
        when '1' then (select last.run_at_ms from cairnq_tasks last where last.id = substr(walk.cursor, 44))
        else -9e999
      end,
      iif(@at_task(walk.cursor), substr(walk.cursor, 44), '')
    )
    and @claimable()
    and iif(+:weighs, (select @fits() from cairnq_tasks weighed where weighed.id = cairnq_tasks.id), 1)
  order by run_at_ms, id limit 1
), @top(@level_start(), walk.queue, walk.name, @key, @level_of(walk)))
