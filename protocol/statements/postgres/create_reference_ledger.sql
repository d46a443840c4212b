-- Creates the ledger of the reference SDKs. It is sent before the migrations in a separate transaction: the migrators
-- of those SDKs lock the ledger, and fail if it is created but not yet committed.
-- @only postgres: an SQLite database is locked as a whole
-- @returns nothing
create table if not exists cairnq_migrations (
  name text primary key,
  applied_at_ms bigint not null
)
