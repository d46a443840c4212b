-- Lists the tasks under one root, or of one correlation id, newest first. A null filter matches everything.
-- @param root_id text?
-- @param correlation_id text?
-- @param status text?
-- @param queue text?
-- @param name text?
-- @param max_tasks integer
-- @param skip_tasks integer
-- @returns task
select t.*
from cairnq_tasks t
where t.id = any(array(
    select r.id from cairnq_tasks r where r.id = :root_id::text
    union
    select r.id from cairnq_tasks r where r.parent_id is not null and r.root_id = :root_id::text
    union
    select r.id from cairnq_tasks r where :root_id::text is null and r.correlation_id = :correlation_id::text
  ))
  and (:root_id::text is null or t.root_id = :root_id::text)
  and (:correlation_id::text is null or t.correlation_id = :correlation_id::text)
  and (:status::text is null or t.status = :status::text)
  and (:queue::text is null or t.queue = :queue::text)
  and (:name::text is null or t.name = :name::text)
order by t.id desc
limit :max_tasks::bigint offset :skip_tasks::bigint
