-- Reads the states of many tasks: of those by id only the terminal ones, of watched ids and of keys all.
-- A key may move to another task, so that a wait by key needs the id of one that is not terminal too.
-- @param ids_json json
-- @param watched_json json
-- @param keys_json json
-- @param now_ms integer?
-- @returns name, by_key, id, status, progress, message, attempt
select asked.name, asked.by_key, state.id, state.status, state.progress, state.message, state.attempt
from (
  select @texts(:ids_json), 0, 0
  union all
  select @texts(:watched_json), 0, 1
  union all
  select @texts(:keys_json), 1, 1
) as asked(name, by_key, is_whole)
cross join lateral (
  select id, @status_of(cairnq_tasks, @present()) as status, progress, message, attempt from cairnq_tasks
  where id = case when asked.by_key = 1 then @task_of_key(asked.name) else asked.name end
  limit 1
) state
where asked.is_whole = 1 or state.status not in ('queued', 'running')
