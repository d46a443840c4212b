-- Holds the lock of all limited claims until the transaction ends.
-- @only postgres: SQLite has one writer at a time
-- @returns locks
with locked as materialized (
  select pg_advisory_xact_lock(hashtextextended('wadi:limits', 1))
)
select count(*) as locks from locked
