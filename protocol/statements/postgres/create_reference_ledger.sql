-- Creates the ledger of the reference SDKs, in a transaction of its own: their migrators lock it, and one that finds it
-- created but not committed fails.
-- @only postgres: an SQLite database is locked as a whole
-- @returns nothing
create table if not exists cairnq_migrations (
  name text primary key,
  applied_at_ms bigint not null
)
