-- Lists tasks, newest first. A null filter matches everything.
-- @param status text?
-- @param queue text?
-- @param name text?
-- @param max_tasks integer
-- @param skip_tasks integer
-- @returns task
select t.*
from cairnq_tasks t
where (:status::text is null or t.status = :status::text)
  and (:queue::text is null or t.queue = :queue::text)
  and (:name::text is null or t.name = :name::text)
order by t.id desc
limit :max_tasks::bigint offset :skip_tasks::bigint
