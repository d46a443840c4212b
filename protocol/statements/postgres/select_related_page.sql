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
  id, id as position, case when @matches() then 1 else 0 end as matches,
  coalesce(:cutoff_ms::bigint, @present()) as ms
from cairnq_tasks
where id = any(array(
    select id from cairnq_tasks where id = :root_id::text
    union
    select id from cairnq_tasks where parent_id is not null and root_id = :root_id::text
    union
    select id from cairnq_tasks
    where :root_id::text is null and correlation_id = :correlation_id::text
  ))
  and (:root_id::text is null or root_id = :root_id::text)
  and (:correlation_id::text is null or correlation_id = :correlation_id::text)
  and id > coalesce(:position::text, '')
order by id
limit :max_tasks::bigint
