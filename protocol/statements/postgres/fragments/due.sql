-- Whether a task of a lane, key and priority is due. If the claim weighs, a task too large for an answer is passed by;
-- else none is read for its size. "between" keeps the planner's estimate small.
-- @param lane the row with the queue and the name
-- @param key the concurrency key
-- @param level the row with the priority and with `first_ms`, when the first task of it is due
(
  @queued(@lane.queue, @lane.name, @key)
  and priority = @level.priority and run_at_ms between @level.first_ms and (select ms from now)
  and case when (select :weighs::integer) = 0 then true
    else (select @fits() from cairnq_tasks weighed where weighed.id = cairnq_tasks.id) end
)
