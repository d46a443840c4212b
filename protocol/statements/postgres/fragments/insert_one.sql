-- Queues the task of a submit without a key.
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
