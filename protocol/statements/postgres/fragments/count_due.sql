-- How many tasks of a lane, key and priority are due, as `due`; it counts no further than it has to.
-- @param lane the row with the queue and the name
-- @param key the concurrency key
-- @param level the row with the priority and with `first_ms`
-- @param most where to stop counting
(
  select count(*) as due
  from (select 1 from cairnq_tasks where @due(@lane, @key, @level) limit @most) counted
)
