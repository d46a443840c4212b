-- Takes the lock of all limited claims and holds it until the transaction ends.
-- So the claim after it, a statement of the same transaction, reads what the claims before it took.
-- @only postgres: SQLite has one writer at a time
-- @returns locks
with locked as materialized (
  select pg_advisory_xact_lock(hashtextextended('wadi:limits', 1))
)
select count(*) as locks from locked
