-- Reads what changes while one task waits and runs, by id, or by key where the id is null.
-- It leaves out the payload and the result, so a poll stays small.
-- @param id text?
-- @param key text?
-- @param now_ms integer?
-- @returns id, status, progress, message, attempt
select id, @status_of(cairnq_tasks, @present()) as status, progress, message, attempt
from cairnq_tasks
where id = @id_or_key()
