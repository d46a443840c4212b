-- Queues one task without a key as insert_task does, and takes the kick of its queue as take_kicks does: one statement,
-- so that a submit needs no transaction of several.
-- @only postgres: on SQLite a batch costs no more than a statement
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
-- @param can_delay integer
-- @param now_ms integer?
-- @returns created_at_ms, is_kicked, at_ms
with @now(),
inserted as (
  @insert_one()
),
kick as materialized (
  select
    inserted.created_at_ms, now.ms, coalesce(:run_at_ms::bigint, now.ms + :delay_ms::bigint) as at_ms
  from inserted cross join now
)
select
  created_at_ms,
  case
    when wadi_take_kick(:queue::text, jsonb_build_array(:name::text), at_ms, ms, :can_delay::integer = 1) then 1
    else 0
  end as is_kicked,
  case when at_ms > ms then at_ms end as at_ms
from kick
