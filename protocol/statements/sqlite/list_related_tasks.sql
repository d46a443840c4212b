-- Lists the tasks under one root, or of one correlation id, newest first. A null filter matches everything.
-- The ids come from the index of the root or of the correlation id, and the other filters apply to those rows.
-- @param root_id text?
-- @param correlation_id text?
-- @param status text?
-- @param queue text?
-- @param name text?
-- @param max_tasks integer
-- @param skip_tasks integer
-- @param now_ms integer?
-- @returns task
select *, @expired_error(cairnq_tasks, @present())
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
  and @matches()
order by id desc
limit +:max_tasks offset +:skip_tasks
