-- How many tasks under one root or of one correlation id a bulk operation would take, and the time of the count.
-- @param root_id text?
-- @param correlation_id text?
-- @param statuses_json json
-- @param queue text?
-- @param name text?
-- @param now_ms integer?
-- @returns tasks, ms
with @now()
select count(*) as tasks, @safe_time((select ms from now)) as ms
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
  and (:queue is null or +queue = :queue) and (:name is null or +name = :name)
  and @status_of(cairnq_tasks, (select ms from now)) in (select value from json_each(:statuses_json))
  and not (+status = 'running' and +cancel_requested_at_ms is not null)
