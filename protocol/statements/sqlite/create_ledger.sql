-- Creates the table that records Wadi's own migrations.
-- @returns nothing
create table if not exists wadi_migrations (
  name text primary key not null,
  applied_at_ms integer not null
) without rowid
