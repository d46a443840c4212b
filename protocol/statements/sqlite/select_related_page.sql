-- A page of a bulk operation: up to max_tasks tasks behind an id, under one root or of one correlation id, in the order
-- of their ids. Each matches; the statement that changes them has the other conditions.
-- @param root_id text?
-- @param correlation_id text?
-- @param status text?
-- @param queue text?
-- @param name text?
-- @param cutoff_ms integer?
-- @param position text?
-- @param max_tasks integer
-- @param now_ms integer?
-- @returns id, position, matches, ms
select
  id, id as position, ifnull(@matches(), 0) as matches,
  @safe_time(coalesce(cast(:cutoff_ms as integer), @present())) as ms
from cairnq_tasks
where id in (
    select id from cairnq_tasks where id = +:root_id
    union
    select id from cairnq_tasks where parent_id is not null and root_id = +:root_id
    union
    select id from cairnq_tasks where +:root_id is null and correlation_id = +:correlation_id
  )
  and (:root_id is null or +root_id = :root_id)
  and (:correlation_id is null or +correlation_id = :correlation_id)
  and id > ifnull(:position, '')
order by id
limit +:max_tasks
