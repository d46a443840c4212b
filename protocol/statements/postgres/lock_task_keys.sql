-- Holds the lock of each submitted key until the transaction ends, taken in one order by all.
-- @only postgres: SQLite has one writer at a time
-- @param keys_json json
-- @returns locks
with keys as materialized (
  select distinct hashtextextended(item->>'key', 0) as hash
  from jsonb_array_elements(coalesce(@guard(), :keys_json)::jsonb) as i(item)
  order by hash
),
locked as materialized (
  select pg_advisory_xact_lock(hash) from keys
)
select count(*) as locks from locked
