-- Queues one task without a key, due at run_at_ms or, where that is null, delay_ms from now. It expires expires_in_ms
-- after that, or after now if it is due already.
-- An id that exists already is left alone and not returned, so a submit that is sent again adds nothing.
-- @param id text
-- @param name text
-- @param queue text
-- @param payload json
-- @param metadata json
-- @param max_attempts integer
-- @param max_crashes integer
-- @param priority integer
-- @param run_at_ms integer?
-- @param delay_ms integer
-- @param expires_in_ms integer?
-- @param parent_id text?
-- @param root_id text?
-- @param correlation_id text?
-- @param concurrency_key text
-- @param on_failed json?
-- @param now_ms integer?
-- @returns created_at_ms
with @now()
insert into cairnq_tasks (@new_task())
select
  coalesce(@guard(), :id), :name, :queue, 'queued', :payload, :metadata, :max_attempts, :max_crashes, :max_crashes,
  :priority, coalesce(:run_at_ms, ms + :delay_ms), max(ms, coalesce(:run_at_ms, ms + :delay_ms)) + :expires_in_ms,
  :parent_id, coalesce(:root_id, :id), :correlation_id, :concurrency_key, :on_failed, ms, ms
from now
where true
on conflict (id) do nothing
returning created_at_ms
