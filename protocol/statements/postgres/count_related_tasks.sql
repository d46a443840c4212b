-- How many tasks under one root or of one correlation id a bulk operation would take, and the time of the count.
-- @param root_id text?
-- @param correlation_id text?
-- @param statuses_json json
-- @param queue text?
-- @param name text?
-- @param now_ms integer?
-- @returns tasks, ms
with @now()
select count(*) as tasks, (select ms from now) as ms
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
  and (:queue::text is null or queue = :queue::text) and (:name::text is null or name = :name::text)
  and @status_of(cairnq_tasks, (select ms from now)) in (select * from @texts(:statuses_json))
  and not (status = 'running' and cancel_requested_at_ms is not null)
