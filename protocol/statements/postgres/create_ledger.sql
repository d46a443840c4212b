-- Creates the table that records Wadi's own migrations.
-- @returns nothing
create table if not exists wadi_migrations (
  name text primary key,
  applied_at_ms bigint not null
)
