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
  coalesce(@guard(), :id::text), :name::text, :queue::text, 'queued', :payload::jsonb, :metadata::jsonb,
  :max_attempts::integer, :max_crashes::integer, :max_crashes::integer,
  :priority::integer, coalesce(:run_at_ms::bigint, ms + :delay_ms::bigint),
  greatest(ms, coalesce(:run_at_ms::bigint, ms + :delay_ms::bigint)) + :expires_in_ms::bigint,
  :parent_id::text, coalesce(:root_id::text, :id::text), :correlation_id::text, :concurrency_key::text,
  :on_failed::jsonb, ms, ms
from now
on conflict (id) do nothing
returning created_at_ms
