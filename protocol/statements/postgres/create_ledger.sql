-- Creates the table that records Wadi's migrations. It is left alone if it exists.
-- @returns nothing
create table if not exists wadi_migrations (
  name text primary key,
  applied_at_ms bigint not null
)
