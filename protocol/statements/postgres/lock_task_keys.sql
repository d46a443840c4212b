-- Takes the lock of each submitted key and holds it until the transaction ends.
-- All take them in the order of the hashes, so that they never deadlock. The function and its seed are part of the
-- protocol: every SDK locks a key in this way.
-- @only postgres: SQLite has one writer at a time
-- @param keys_json json
-- @returns locks
with keys as materialized (
  select distinct hashtextextended(item->>'key', 0) as hash
  from jsonb_array_elements(coalesce(@guard(), :keys_json)::jsonb) as items(item)
  order by hash
),
locked as materialized (
  select pg_advisory_xact_lock(hash) from keys
)
select count(*) as locks from locked
