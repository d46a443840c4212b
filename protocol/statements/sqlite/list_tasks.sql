-- Lists tasks, newest first. A null filter matches everything.
-- @param status text?
-- @param queue text?
-- @param name text?
-- @param max_tasks integer
-- @param skip_tasks integer
-- @returns task
select *
from cairnq_tasks
where (:status is null or +status = :status)
  and (:queue is null or +queue = :queue)
  and (:name is null or +name = :name)
order by id desc
limit +:max_tasks offset +:skip_tasks
