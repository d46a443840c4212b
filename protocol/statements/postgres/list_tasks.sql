-- Lists tasks, newest first. A null filter matches everything.
-- It walks the primary key backwards until it has enough, so a filter that few tasks match reads many.
-- @param status text?
-- @param queue text?
-- @param name text?
-- @param max_tasks integer
-- @param skip_tasks integer
-- @param now_ms integer?
-- @returns task
select *, @expired_error(cairnq_tasks, @present())
from cairnq_tasks
where @matches()
order by id desc
limit :max_tasks::bigint offset :skip_tasks::bigint
